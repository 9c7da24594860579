#define _GNU_SOURCE

#include "tool/disassemble.h"

#include "format/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static FILE *write_code(const struct disassembly *disassembly)
{
    FILE *const file = tmpfile();
    if (file == NULL)
        return NULL;
    if (fwrite(disassembly->code, 1, (size_t)disassembly->size, file) != disassembly->size ||
        fflush(file) != 0) {
        fclose(file);
        return NULL;
    }
    return file;
}

/* objdump, with the file as descriptor 3 and its output to `to`. Returns an errno value. */
static int start(const struct disassembly *disassembly, const char *machine, int file, int to,
                 pid_t *pid)
{
    char adjust[64];
    snprintf(adjust, sizeof(adjust), "--adjust-vma=0x%" PRIx64, disassembly->address);
    const char *const arguments[] = {
        "objdump", "-D", "-w", "-b", "binary", "-m", machine, disassembly->big_endian ? "-EB" : "-EL",
        adjust, "/dev/fd/3", NULL};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, file, 3);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    if (error == 0)
        error = posix_spawnp(pid, "objdump", &actions, NULL, (char *const *)(uintptr_t)arguments,
                             environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void replace_tabs(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\t')
            *text = ' ';
}

/* Lines of instructions are "  ADDRESS:\tBYTES\tINSTRUCTION". */
static uint64_t read_lines(FILE *from, void (*line)(void *context, uint64_t address, const char *text),
                           void *context)
{
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length;
    uint64_t count = 0;
    while ((length = getline(&text, &capacity, from)) > 0) {
        char *end;
        const uint64_t address = strtoull(text, &end, 16);
        if (end == text || end[0] != ':' || end[1] != '\t')
            continue;
        if (text[length - 1] == '\n')
            text[length - 1] = '\0';
        replace_tabs(end);
        line(context, address, end + 2);
        count++;
    }
    free(text);
    return count;
}

const char *disassemble(const struct disassembly *disassembly,
                        void (*line)(void *context, uint64_t address, const char *text),
                        void *context)
{
    const struct machine *const machine = jd_machine(disassembly->elf_mach);
    if (machine == NULL)
        return "the machine is not known here";
    FILE *const code = write_code(disassembly);
    int ends[2];
    if (code == NULL || pipe2(ends, O_CLOEXEC) != 0) {
        if (code != NULL)
            fclose(code);
        return "no temporary file for objdump";
    }
    pid_t pid;
    const int error = start(disassembly, machine->objdump, fileno(code), ends[1], &pid);
    close(ends[1]);
    FILE *const output = fdopen(ends[0], "r");
    uint64_t count = 0;
    if (error == 0 && output != NULL)
        count = read_lines(output, line, context);
    if (output != NULL)
        fclose(output);
    else
        close(ends[0]);
    if (error == 0)
        waitpid(pid, NULL, 0);
    fclose(code);
    if (error != 0)
        return error == ENOENT ? "objdump is not installed" : "objdump can't be started";
    return count > 0 ? NULL : "objdump does not disassemble this machine's code";
}
