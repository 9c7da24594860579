/*
 * Dumps one function, where there are dumps.
 *
 *     emits DIRECTORY [LIMIT]
 *
 * Prints what jitdump_open() says besides its result, the dump's path, and the results of load, flush and close.
 * With LIMIT, in bytes, no file may grow past it, a thread that blocks no signal is there too, and loads
 * follow until one fails.
 */
#define _DARWIN_C_SOURCE
#define _GNU_SOURCE
#include <jitdump.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void *wait_for_ever(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

int main(int argc, char **argv)
{
    static const unsigned char code_bytes[64];
    char message[1000] = "";
    struct jitdump *dump;
    struct jitdump_options options;
    jitdump_options_init(&options, sizeof(options));
    options.directory = argc > 1 ? argv[1] : NULL;
    options.error_message = message;
    options.error_message_size = sizeof(message);
    const int opened = jitdump_open(&dump, &options);
    printf("open: %d %s\npath: %s\n", opened, message, dump != NULL ? jitdump_path(dump) : "");
    pthread_t thread;
    if (argc > 2) {
        const struct rlimit limit = {(rlim_t)atoll(argv[2]), RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
        if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
            return 1;
    }
    struct jitdump_code code;
    memset(&code, 0, sizeof(code));
    code.struct_size = sizeof(code);
    code.name = "emitted";
    code.code_addr = (uintptr_t)code_bytes;
    code.code_size = sizeof(code_bytes);
    int loaded = 0, flushed = 0;
    do {
        loaded = jitdump_load(dump, &code, NULL);
        flushed = jitdump_flush(dump);
    } while (argc > 2 && loaded == 0 && flushed == 0);
    printf("load: %d\nflush: %d\n", loaded, flushed);
    printf("close: %d\n", jitdump_close(dump));
    return 0;
}
