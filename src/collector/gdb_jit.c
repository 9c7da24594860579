#include "platform/c_library.h"

#include "gdb_jit.h"

#include "code_patch.h"
#include "loaded_objects.h"
#include "memory.h"
#include "pending_code.h"
#include "process_dump.h"
#include "system/shield.h"

#include <string.h>

enum action { JIT_NOACTION = 0, JIT_REGISTER_FN = 1, JIT_UNREGISTER_FN = 2 };

struct jit_code_entry {
    struct jit_code_entry *next;
    struct jit_code_entry *previous;
    const void *object;
    uint64_t size;
};

struct jit_descriptor {
    uint32_t version;
    uint32_t action;
    struct jit_code_entry *relevant;
    struct jit_code_entry *first;
};

/* Larger ones are no JIT's. */
#define OBJECT_SIZE_MAX (UINT64_C(1) << 30)

static void register_object(const struct jit_code_entry *entry)
{
    if (entry->size == 0 || entry->size > OBJECT_SIZE_MAX)
        return;
    void *const bytes = jd_memory_copy((uintptr_t)entry->object, entry->size);
    struct object_code *const code =
        bytes != NULL ? jd_object_code_read(bytes, entry->size, LOADED_BY_GDB, NULL, NULL) : NULL;
    if (code != NULL)
        jd_pending_code_add(code, entry);
}

/* In the place of __jit_debug_register_code(), by a thread that holds the JIT's own lock. */
static void code_registered(void *context)
{
    const struct jit_descriptor *const descriptor = context;
    const struct process_shield shield = jd_process_shield();
    const struct jit_code_entry *const entry = descriptor->relevant;
    if (entry != NULL && descriptor->action == JIT_REGISTER_FN)
        register_object(entry);
    else if (entry != NULL && descriptor->action == JIT_UNREGISTER_FN)
        jd_pending_code_forget(entry);
    jd_process_unshield(shield);
}

static void found(uintptr_t function, uint64_t room, uintptr_t variable, const char *object)
{
    static atomic_uint said;
    struct jit_descriptor *const descriptor = (struct jit_descriptor *)variable; // NOLINT
    const char *const error = jd_patch_function(function, room, code_registered, descriptor);
    if (error != NULL)
        jd_collector_report(&said, "%s: its code for GDB is not seen: of __jit_debug_register_code, %s",
                            object, error);
}

void jd_gdb_jit_watch(void)
{
    static const struct loaded_symbols symbols = {"__jit_debug_register_code", "__jit_debug_descriptor"};
    jd_loaded_objects_watch(&symbols, found);
}
