#define _DEFAULT_SOURCE /* popen */

#include "tool/output.h"

#include "tool/command.h"
#include "tool/messages.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool colours;
static FILE *pager;
/* What went wrong first; later calls may set errno anew. */
static int first_error;
static bool finished;

bool parse_colour(const char *text, enum output_colour *colour)
{
    static const char *const names[] = {"auto", "never", "always"};
    for (int i = COLOUR_AUTO; i <= COLOUR_ALWAYS; i++) {
        if (strcmp(text, names[i]) == 0) {
            *colour = (enum output_colour)i;
            return true;
        }
    }
    return false;
}

static const char *environment(const char *name)
{
    const char *const value = getenv(name);
    return value != NULL ? value : "";
}

static void start_pager(void)
{
    const char *command = environment("PAGER");
    if (command[0] == '\0')
        command = "if command -v less >/dev/null; then exec less; else exec cat; fi";
    if (strcmp(command, "cat") == 0)
        return;
    /* less: colours as they are, and no waiting where all fits on the screen. */
    setenv("LESS", "FRX", 0);
    fflush(stdout);
    pager = popen(command, "w");
    if (pager != NULL && dup2(fileno(pager), STDOUT_FILENO) < 0) {
        pclose(pager);
        pager = NULL;
    }
    /* If the user leaves it, that is no error. */
    if (pager != NULL)
        signal(SIGPIPE, SIG_IGN);
}

void output_start(enum output_colour colour, bool page)
{
    const bool terminal = isatty(STDOUT_FILENO) == 1;
    const bool capable =
        environment("NO_COLOR")[0] == '\0' && strcmp(environment("TERM"), "dumb") != 0;
    colours = colour == COLOUR_ALWAYS || (colour == COLOUR_AUTO && terminal && capable);
    if (page && terminal)
        start_pager();
}

bool output_failed(void)
{
    if (ferror(stdout) == 0)
        return false;
    if (first_error == 0)
        first_error = errno;
    return true;
}

int output_finish(int status)
{
    if (finished)
        return status;
    finished = true;
    bool failed = output_failed();
    errno = 0;
    /* Standard output that was closed from the start is an error only if there was something to
     * print. */
    if (fflush(stdout) != 0 || (fclose(stdout) != 0 && errno != EBADF)) {
        failed = true;
        if (first_error == 0)
            first_error = errno;
    }
    if (pager != NULL) {
        const int ended = pclose(pager);
        /* As a shell says that there is none. */
        if (!WIFEXITED(ended) || WEXITSTATUS(ended) < STATUS_NOT_RUN)
            return status;
        complain("the pager that $PAGER names can't be run: --no-pager does without");
        return STATUS_TROUBLE;
    }
    if (!failed)
        return status;
    if (first_error != EPIPE)
        complain("standard output: %s", strerror(first_error));
    return STATUS_TROUBLE;
}

const char *style(enum output_style style)
{
    static const char *const escapes[] = {
        [STYLE_PLAIN] = "\033[0m",
        [STYLE_FAINT] = "\033[2m",
        [STYLE_NAME] = "\033[1m",
        [STYLE_PROBLEM] = "\033[31m",
    };
    return colours ? escapes[style] : "";
}
