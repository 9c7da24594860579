/* A runtime that runs everywhere, and has no #ifdef: says what the library does where there is no
 * dump. The exit code is the line of what is wrong. */
#include <jitdump.h>

#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return __LINE__;                                                                       \
    } while (0)

int main(void)
{
    struct jitdump *dump = (struct jitdump *)1;
    struct jitdump_options options;
    char message[200] = "";
    jitdump_options_init(&options, sizeof(options));
    CHECK(options.struct_size == sizeof(options) && options.directory == NULL);
    options.error_message = message;
    options.error_message_size = sizeof(message);
    CHECK(jitdump_open(&dump, &options) == JITDUMP_ERROR_UNSUPPORTED);
    CHECK(dump == NULL && strcmp(message, jitdump_strerror(JITDUMP_ERROR_UNSUPPORTED)) == 0);
    CHECK(jitdump_open(&dump, NULL) == JITDUMP_ERROR_UNSUPPORTED && dump == NULL);
    CHECK(jitdump_open(NULL, NULL) == JITDUMP_ERROR_ARGUMENT);
    const int asked = getenv("JITDUMP") != NULL;
    CHECK(jitdump_open_from_environment(&dump, NULL) == (asked ? JITDUMP_ERROR_UNSUPPORTED : 0));
    CHECK(dump == NULL);

    struct jitdump_code code;
    memset(&code, 0, sizeof(code));
    code.struct_size = sizeof(code);
    uint64_t number = 1;
    uint32_t tier = 1;
    CHECK(jitdump_load(dump, &code, &number) == 0 && number == 0);
    number = 1;
    CHECK(jitdump_load_many(dump, &code, 1, &number) == 0 && number == 0);
    CHECK(jitdump_move(dump, 1, 2, 3, 4) == 0);
    CHECK(jitdump_append_raw(dump, 1000, "x", 1) == 0);
    CHECK(jitdump_add_tier(dump, "t", 0, "T: ", &tier) == 0 && tier == 0);
    CHECK(jitdump_embed_source(dump, "path", "text", 4) == 0);
    number = 1;
    CHECK(jitdump_unwind_size(dump, &code, &number) == 0 && number == 0);
    number = 1;
    CHECK(jitdump_unwind_eh_frame(62, &code, NULL, 0, &number) == JITDUMP_ERROR_UNSUPPORTED &&
          number == 0);
    CHECK(jitdump_flush(dump) == 0 && jitdump_flush_from_signal(dump) == 0);
    CHECK(jitdump_path(dump) == NULL && jitdump_close(dump) == 0);
    jitdump_after_fork();
    CHECK(jitdump_version() == JITDUMP_VERSION_MAJOR * 10000 + JITDUMP_VERSION_MINOR * 100 +
                                   JITDUMP_VERSION_PATCH);
    return 0;
}
