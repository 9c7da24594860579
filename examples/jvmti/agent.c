/*
 * java -agentpath:libjitdump-jvmti.so[=OPTION[,OPTION]...] ...
 *
 * Writes a jitdump of all code that HotSpot generates. README.md has the options.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JVMTI's callbacks have no argument of the agent's. */
static struct jitdump *dump;

/* Once: what is wrong with one function is mostly wrong with all. */
static void check(int error)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (error != 0 && !atomic_flag_test_and_set(&said))
        fprintf(stderr, "jitdump: the profile will be incomplete: %s\n", jitdump_strerror(error));
}

/* Posted by a thread of the virtual machine's that keeps the code alive meanwhile, after the
 * code was installed: samples from before are nobody's, or its predecessor's at the address. */
static void JNICALL method_compiled(jvmtiEnv *jvmti, jmethodID method, jint code_size,
                                    const void *code_addr, jint map_length,
                                    const jvmtiAddrLocationMap *map, const void *compile_info)
{
    (void)map_length; /* the map knows the outermost frames only */
    (void)map;
    struct inlining inlining;
    const bool known =
        inlining_read(&inlining, jvmti, method, code_addr, (uint32_t)code_size, compile_info);
    const struct jitdump_code code = {
        .struct_size = sizeof(code),
        .name = known ? inlining.functions[0].name : NULL, /* which is an error to report */
        .code_addr = (uintptr_t)code_addr,
        .code_size = (uint32_t)code_size,
        .tracks = &inlining.track,
        .track_count = inlining.track.offset_count != 0,
    };
    check(jitdump_load(dump, &code, NULL));
    inlining_free(&inlining, jvmti);
}

/* The interpreter, stubs, adapters. */
static void JNICALL code_generated(jvmtiEnv *jvmti, const char *name, const void *code_addr,
                                   jint code_size)
{
    (void)jvmti;
    const struct jitdump_code code = {
        .struct_size = sizeof(code),
        .name = name,
        .code_addr = (uintptr_t)code_addr,
        .code_size = (uint32_t)code_size,
    };
    check(jitdump_load(dump, &code, NULL));
}

static bool read_option(struct jitdump_options *options, char *option)
{
    static const char *const dialects[] = {[JITDUMP_DIALECT_PERF] = "dialect=perf",
                                           [JITDUMP_DIALECT_SAMPLY_2023] = "dialect=samply-2023",
                                           [JITDUMP_DIALECT_SAMPLY_2026] = "dialect=samply-2026"};
    for (uint32_t i = 0; i < sizeof(dialects) / sizeof(*dialects); i++) {
        if (strcmp(option, dialects[i]) == 0) {
            options->dialect = i;
            return true;
        }
    }
    if (strncmp(option, "directory=", 10) == 0)
        options->directory = option + 10;
    else if (strcmp(option, "outermost") == 0)
        options->flags |= JITDUMP_OUTERMOST_LINES;
    else
        return false;
    return true;
}

static bool read_options(struct jitdump_options *options, char *text)
{
    char *rest = NULL;
    for (char *option = strtok_r(text, ",", &rest); option != NULL;
         option = strtok_r(NULL, ",", &rest)) {
        if (!read_option(options, option)) {
            fprintf(stderr, "jitdump: unknown option: %s\n", option);
            return false;
        }
    }
    return true;
}

static bool open_dump(const char *text)
{
    char message[512] = "out of memory";
    struct jitdump_options options = {.struct_size = sizeof(options),
                                      .error_message = message,
                                      .error_message_size = sizeof(message)};
    if (dump != NULL) {
        fprintf(stderr, "jitdump: the agent is at work already\n");
        return false;
    }
    char *copy = strdup(text != NULL ? text : "");
    const bool valid = copy != NULL && read_options(&options, copy);
    const bool opened = valid && jitdump_open(&dump, &options) == 0;
    /* Why there is none, or a warning. */
    if ((valid || copy == NULL) && message[0] != '\0')
        fprintf(stderr, "jitdump: %s\n", message);
    free(copy);
    return opened;
}

static bool succeeds(const char *what, jvmtiError error)
{
    if (error != JVMTI_ERROR_NONE)
        fprintf(stderr, "jitdump: %s: JVMTI error %d\n", what, (int)error);
    return error == JVMTI_ERROR_NONE;
}

static bool enable_events(jvmtiEnv *jvmti)
{
    const jvmtiCapabilities capabilities = {.can_generate_compiled_method_load_events = 1,
                                            .can_get_source_file_name = 1,
                                            .can_get_line_numbers = 1};
    const jvmtiEventCallbacks callbacks = {.CompiledMethodLoad = method_compiled,
                                           .DynamicCodeGenerated = code_generated};
    return succeeds("AddCapabilities", (*jvmti)->AddCapabilities(jvmti, &capabilities)) &&
           succeeds("SetEventCallbacks",
                    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks))) &&
           succeeds("DynamicCodeGenerated",
                    (*jvmti)->SetEventNotificationMode(
                        jvmti, JVMTI_ENABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED, NULL)) &&
           succeeds("CompiledMethodLoad",
                    (*jvmti)->SetEventNotificationMode(
                        jvmti, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL));
}

/* NULL: it has said why. */
static jvmtiEnv *start(JavaVM *vm, const char *options)
{
    void *jvmti;
    if ((*vm)->GetEnv(vm, &jvmti, JVMTI_VERSION_1_1) != JNI_OK) {
        fprintf(stderr, "jitdump: this virtual machine has no JVMTI\n");
        return NULL;
    }
    if (!open_dump(options))
        return NULL;
    if (enable_events(jvmti))
        return jvmti;
    jitdump_close(dump);
    dump = NULL;
    return NULL;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    return start(vm, options) != NULL ? JNI_OK : JNI_ERR;
}

/* Into a process that runs already: `jcmd PID JVMTI.agent_load`. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    jvmtiEnv *jvmti = start(vm, options);
    /* What comes twice, because it is generated meanwhile, does no harm. */
    return jvmti != NULL &&
                   succeeds("GenerateEvents", (*jvmti)->GenerateEvents(
                                                  jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED)) &&
                   succeeds("GenerateEvents", (*jvmti)->GenerateEvents(
                                                  jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD))
               ? JNI_OK
               : JNI_ERR;
}

/* The dump is not closed at the end, because events may still be under way then; the library
 * flushes it when the process exits. */
