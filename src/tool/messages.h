/*
 * What the tool says on standard error.
 */
#ifndef JITDUMP_TOOL_MESSAGES_H
#define JITDUMP_TOOL_MESSAGES_H

/* "jitdump: " and the message, a line. Files' names in it may be any bytes: a profile or a dump of somebody else's
 * may have them. They are shown as those in dumps are (text.h). */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What to do after getopt_long() has complained, or something like it. Returns STATUS_TROUBLE. */
int point_to_help(const char *command);

/* Of what getopt_long() has left, the dump that a command takes. NULL: none, or several, which is
 * complained about. */
const char *the_one_dump(int argc, char **argv);

#endif
