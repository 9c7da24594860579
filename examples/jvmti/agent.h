/* A JVMTI agent that writes a jitdump. The virtual machine enters it in agent.c. */
#ifndef AGENT_H
#define AGENT_H

#include <jitdump.h>
#include <jvmti.h>
#include <stdbool.h>

/* What the virtual machine knows of a method (method.c). */
struct method {
    jmethodID id;
    char *name; /* as in Java: java.lang.String.charAt(int) */
    char *file; /* java/lang/String.java; NULL: unknown */
    jvmtiLineNumberEntry *lines;
    jint line_count;
};

/* False: there is no such method any more, or no memory. */
bool method_read(struct method *method, jvmtiEnv *jvmti, jmethodID id);
void method_free(struct method *method, jvmtiEnv *jvmti);
/* 0: unknown. */
uint32_t method_line(const struct method *method, jint bytecode_index);

/* Where a piece of compiled code comes from (inlining.c). */
struct inlining {
    struct jitdump_track track; /* functions[0] is the compiled method */

    struct method *methods; /* of functions */
    struct jitdump_function *functions;
    struct jitdump_position *positions;
    jint *bytecode_indexes; /* of positions */
    struct jitdump_offset *offsets;
    /* Hash tables of indexes plus 1; their size is a power of two, and this one less. */
    uint32_t table_mask;
    uint32_t *function_table;
    uint32_t *position_table;
};

/* False: there is no such method any more, or no memory. To be freed in either case. */
bool inlining_read(struct inlining *inlining, jvmtiEnv *jvmti, jmethodID id,
                   const void *code_addr, uint32_t code_size, const void *compile_info);
void inlining_free(struct inlining *inlining, jvmtiEnv *jvmti);

#endif
