#include "platform/c_library.h"

#include "pending_code.h"

#include "memory.h"
#include "preloaded.h"
#include "system/shield.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The number of objects in the list: what mprotect() looks at first. It needs no order: who makes memory
 * executable has reported the object before, by the same thread or under a lock of its own. */
static atomic_uint waiting;
static struct waiting_object {
    const void *key;
    struct object_code *code;
    struct waiting_object *next;
} *objects;
static pthread_once_t registered = PTHREAD_ONCE_INIT;

/* What another thread was changing is lost to the child, which has no such thread to make the code
 * executable either. */
static void begin_anew_in_child(void)
{
    if (pthread_mutex_trylock(&lock) == 0) {
        pthread_mutex_unlock(&lock);
        return;
    }
    pthread_mutex_init(&lock, NULL);
    objects = NULL;
    atomic_store_explicit(&waiting, 0, memory_order_relaxed);
}

static void register_child(void)
{
    pthread_atfork(NULL, NULL, begin_anew_in_child);
}

static void free_object(struct waiting_object **at)
{
    struct waiting_object *const object = *at;
    *at = object->next;
    jd_object_code_free(object->code);
    free(object);
    atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
}

static void load_executable(uint64_t start, uint64_t end, void *context)
{
    jd_object_code_load(context, start, end);
}

void jd_pending_code_add(struct object_code *code, const void *key)
{
    pthread_once(&registered, register_child);
    /* Nobody would tell when it is executable; or it is written no more. */
    if (!jd_collector_is_preloaded() ||
        (jd_memory_is_read_only(code->functions[0].address) &&
         jd_memory_is_read_only(code->functions[code->function_count - 1].address)))
        jd_object_code_load(code, 0, UINT64_MAX);
    else
        jd_memory_executable(load_executable, code);
    struct waiting_object *const object =
        code->loaded_count < code->function_count ? malloc(sizeof(*object)) : NULL;
    if (object == NULL) {
        jd_object_code_free(code);
        return;
    }
    pthread_mutex_lock(&lock);
    *object = (struct waiting_object){key, code, objects};
    objects = object;
    atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

void jd_pending_code_forget(const void *key)
{
    if (atomic_load_explicit(&waiting, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&lock);
    for (struct waiting_object **at = &objects; *at != NULL;) {
        if ((*at)->key == key)
            free_object(at);
        else
            at = &(*at)->next;
    }
    pthread_mutex_unlock(&lock);
}

void jd_pending_code_executable(uint64_t start, uint64_t size)
{
    if (atomic_load_explicit(&waiting, memory_order_relaxed) == 0)
        return;
    const struct process_shield shield = jd_process_shield();
    pthread_mutex_lock(&lock);
    for (struct waiting_object **at = &objects; *at != NULL;) {
        if (jd_object_code_touches((*at)->code, start, start + size))
            jd_object_code_load((*at)->code, start, start + size);
        if ((*at)->code->loaded_count == (*at)->code->function_count)
            free_object(at);
        else
            at = &(*at)->next;
    }
    pthread_mutex_unlock(&lock);
    jd_process_unshield(shield);
}

/*
 * In the place of the C library's, where the collector is preloaded: exactly what that does, and then a look.
 */
__attribute__((visibility("default"))) int mprotect(void *start, size_t size, int protection)
{
    const int result = (int)syscall(SYS_mprotect, start, size, protection);
    if (result == 0 && (protection & PROT_EXEC) != 0)
        jd_pending_code_executable((uintptr_t)start, size);
    return result;
}
