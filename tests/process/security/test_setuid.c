/* A setuid program does not let its caller's environment say where its files go. The test is such
 * a program itself: it makes a copy of its own file setuid and runs that. */
#define _GNU_SOURCE
#include "../../unit/temporary.h"

#include "jitdump.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWNER 12345

/* In the copy: exit status 77 if it runs without privileges of its own. */
static int open_and_say_where(void)
{
    if (getauxval(AT_SECURE) == 0)
        return 77;
    struct jitdump *dump;
    int error = jitdump_open_from_environment(&dump, NULL);
    if (error != 0 || dump != NULL)
        return 70;
    error = jitdump_open(&dump, NULL);
    if (error != 0)
        return -error;
    puts(jitdump_path(dump));
    fflush(stdout);
    /* Leaks can't be looked for in a setuid program. */
    _exit(jitdump_close(dump) != 0);
}

static void copy_program(const char *to, mode_t mode, uid_t owner)
{
    const int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    assert_true(in >= 0 && out >= 0);
    while (sendfile(out, in, NULL, 1 << 20) > 0)
        continue;
    assert_int_equal(fchown(out, owner, owner), 0);
    assert_int_equal(fchmod(out, mode), 0);
    close(in);
    close(out);
}

/* Runs it with `environment` as the directory that $JITDUMPDIR names, and another one as the
 * current one. Returns its exit status; `path` receives what it says. */
static int run(const char *program, const char *environment, const char *current, char *path)
{
    /* Of this length, $JITDUMP_TRACK would be refused. */
    char *command = NULL;
    assert_true(asprintf(&command, "cd %s && JITDUMP=1 JITDUMPDIR=%s JITDUMP_TRACK=%0300d %s open", current,
                         environment, 0, program) > 0);
    FILE *output = popen(command, "r");
    free(command);
    assert_non_null(output);
    if (fgets(path, PATH_MAX, output) == NULL)
        path[0] = '\0';
    path[strcspn(path, "\n")] = '\0';
    const int status = pclose(output);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void setuid_programs_ignore_the_environment(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can make another user's setuid program\n");
        skip();
    }
    char environment[PATH_MAX - 16], current[PATH_MAX - 16], program[PATH_MAX], path[PATH_MAX];
    snprintf(environment, sizeof(environment), "%s/environment", directory);
    snprintf(current, sizeof(current), "%s/current", directory);
    snprintf(program, sizeof(program), "%s/program", directory);
    assert_int_equal(chmod(directory, 0755), 0);
    assert_int_equal(mkdir(environment, 0777), 0);
    assert_int_equal(mkdir(current, 0777), 0);
    assert_int_equal(chown(environment, OWNER, OWNER), 0);
    assert_int_equal(chown(current, OWNER, OWNER), 0);
    copy_program(program, 04755, OWNER);

    const int status = run(program, environment, current, path);
    if (status == 77) {
        print_message("skipped: setuid programs get no rights here\n");
        skip();
    }
    assert_int_equal(status, 0);
    assert_int_equal(strncmp(path, current, strlen(current)), 0);
    struct stat made;
    assert_int_equal(stat(path, &made), 0);
    assert_int_equal(made.st_uid, OWNER);
    assert_int_equal(made.st_mode, S_IFREG | 0600);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 2)
        return open_and_say_where();
    const struct CMUnitTest tests[] = {
        unit_test_in_directory(setuid_programs_ignore_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
