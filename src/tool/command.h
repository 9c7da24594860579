/*
 * The tool's commands, and how all of them behave.
 *
 * A command gets its own arguments, argv[0] being "jitdump COMMAND", parses them with getopt_long(),
 * and returns an exit status. Results go to standard output, everything else to standard error.
 */
#ifndef JITDUMP_TOOL_COMMAND_H
#define JITDUMP_TOOL_COMMAND_H

/* As grep and diff have them. */
enum exit_status {
    STATUS_OK = 0,
    STATUS_NO = 1,     /* the answer is no: nothing of that name, or something to complain about */
    STATUS_TROUBLE = 2, /* wrong usage, or it could not be done */

    /* As env and timeout have them, of the command that passes on the status of another. */
    STATUS_NO_PROFILE = 125,
    STATUS_NOT_RUN = 126,
    STATUS_NOT_FOUND = 127
};

int breakpad_command(int argc, char **argv);
int check_command(int argc, char **argv);
int dump_command(int argc, char **argv);
int elf_command(int argc, char **argv);
int gsym_command(int argc, char **argv);
int inject_command(int argc, char **argv);
int minidump_command(int argc, char **argv);
int record_command(int argc, char **argv);

#endif
