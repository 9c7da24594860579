/*
 * jitdump: says what dumps hold, and makes other things of them.
 */
#include "platform/c_library.h"

#include "tool/command.h"
#include "tool/messages.h"
#include "tool/output.h"
#include "tool/unfinished.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    char *called; /* argv[0] of the command */
    const char *summary;
} commands[] = {
    {"breakpad", breakpad_command, "jitdump breakpad",
     "make Breakpad symbol files of a dump, for crash reports"},
    {"check", check_command, "jitdump check", "say what is wrong with a dump, or with a profile"},
    {"dump", dump_command, "jitdump dump", "show what a dump holds"},
    {"elf", elf_command, "jitdump elf", "make an ELF file of a dump, for gdb, addr2line and others"},
    {"gsym", gsym_command, "jitdump gsym", "make a GSYM file of a dump, for symbolisers"},
    {"inject", inject_command, "jitdump inject", "give a profile of perf the names of generated code"},
    {"minidump", minidump_command, "jitdump minidump",
     "add generated code to a minidump, so that its symbol files are found"},
    {"record", record_command, "jitdump record", "profile a command, its generated code with names"},
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void print_help(void)
{
    puts("Usage: jitdump COMMAND [OPTION]... FILE...\n"
         "Reads jitdump files, in which JITs describe their code to profilers.\n"
         "\n"
         "Commands:");
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-8s  %s\n", commands[i].name, commands[i].summary);
    puts("\n"
         "'jitdump COMMAND --help' explains a command.\n"
         "\n"
         "Exit status: 0 if all is well, 1 if the answer is no, 2 if there is trouble.");
}

/* The command's status for that. */
static int trouble = STATUS_TROUBLE;

/* Files are read by mapping them. This signal says that one has become shorter: its writer has
 * cut it back, or begun anew. */
static void file_cut(int signal_number)
{
    static const char message[] =
        "jitdump: a file was cut shorter while it was read, or its disk failed: try again\n";
    (void)signal_number;
    const ssize_t written = write(STDERR_FILENO, message, sizeof(message) - 1);
    (void)written;
    unfinished_remove();
    _exit(trouble);
}

/* Where a standard stream is closed, the next file or pipe to be opened would take its place, and get what
 * is meant for the stream: perf's messages, say. What stands there instead fails as a closed one does. */
static void hold_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    hold_streams();
    signal(SIGBUS, file_cut);
    const char *const name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help();
        return output_finish(STATUS_OK);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("jitdump " TOOL_VERSION);
        return output_finish(STATUS_OK);
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            argv[1] = commands[i].called;
            if (commands[i].run == record_command)
                trouble = STATUS_NO_PROFILE;
            return output_finish(commands[i].run(argc - 1, argv + 1));
        }
    }
    if (name[0] == '\0')
        complain("which command?");
    else
        complain("there is no %s '%s'", name[0] == '-' ? "option" : "command", name);
    return point_to_help("jitdump");
}
