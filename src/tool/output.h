/*
 * Standard output: colours and a pager where it is a terminal, and what becomes of errors.
 */
#ifndef JITDUMP_TOOL_OUTPUT_H
#define JITDUMP_TOOL_OUTPUT_H

#include <stdbool.h>

enum output_colour { COLOUR_AUTO, COLOUR_NEVER, COLOUR_ALWAYS };

/* "auto", "never" or "always". False: none of them. */
bool parse_colour(const char *text, enum output_colour *colour);

/* Before anything is printed. A pager is used if one is wanted and standard output is a terminal. */
void output_start(enum output_colour colour, bool pager);

/* Whether printing on is of no use: nobody reads it, or the disk is full. */
bool output_failed(void);

/* After everything is printed; what comes after the first call does nothing. Returns `status`, or
 * STATUS_TROUBLE if not all of it could be written, which is complained about unless it is a reader
 * who has left. */
int output_finish(int status);

/* What is put around text, "" without colours. */
enum output_style { STYLE_PLAIN, STYLE_FAINT, STYLE_NAME, STYLE_PROBLEM };
const char *style(enum output_style style);

#endif
