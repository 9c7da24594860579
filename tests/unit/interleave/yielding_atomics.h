/*
 * Force-included (-include) into a build of the library's sources: in front of every atomic
 * access the thread now and then gives up its processor, or sleeps for a moment. Threads
 * then meet between any two accesses, which by themselves they do once in a million.
 */
#ifndef YIELDING_ATOMICS_H
#define YIELDING_ATOMICS_H

/* As every source that is included behind this has it. */
#define _GNU_SOURCE

#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void interleave(void)
{
    static _Thread_local uint32_t random;
    /* Another sequence for each thread, and in each run where addresses are random. */
    if (random == 0)
        random = (uint32_t)((uintptr_t)&random >> 3 ^ (uintptr_t)&random >> 27) | 1;
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    if (random % 512 == 0) {
        const struct {
            long seconds;
            long nanoseconds;
        } time = {0, (long)(random / 512 % 50000)};
        syscall(SYS_nanosleep, &time, NULL);
    } else if (random % 4 == 0) {
        syscall(SYS_sched_yield);
    }
}

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_compare_exchange_strong_explicit

#ifdef __clang__
#define YIELDING_BUILTIN(name, gcc_suffix) __c11_atomic_##name
#define YIELDING_COMPARE(object, expected, to, weak, success, failure)                       \
    (weak ? __c11_atomic_compare_exchange_weak(object, expected, to, success, failure)       \
          : __c11_atomic_compare_exchange_strong(object, expected, to, success, failure))
#else
#define YIELDING_BUILTIN(name, gcc_suffix) __atomic_##name##gcc_suffix
#define YIELDING_COMPARE(object, expected, to, weak, success, failure)                       \
    __atomic_compare_exchange_n(object, expected, to, weak, success, failure)
#endif

#define atomic_load_explicit(object, order)                                                  \
    (interleave(), YIELDING_BUILTIN(load, _n)(object, order))
#define atomic_store_explicit(object, value, order)                                          \
    (interleave(), YIELDING_BUILTIN(store, _n)(object, value, order))
#define atomic_exchange_explicit(object, value, order)                                       \
    (interleave(), YIELDING_BUILTIN(exchange, _n)(object, value, order))
#define atomic_fetch_add_explicit(object, value, order)                                      \
    (interleave(), YIELDING_BUILTIN(fetch_add, )(object, value, order))
#define atomic_fetch_sub_explicit(object, value, order)                                      \
    (interleave(), YIELDING_BUILTIN(fetch_sub, )(object, value, order))
#define atomic_compare_exchange_weak_explicit(object, expected, to, success, failure)        \
    (interleave(), YIELDING_COMPARE(object, expected, to, 1, success, failure))
#define atomic_compare_exchange_strong_explicit(object, expected, to, success, failure)      \
    (interleave(), YIELDING_COMPARE(object, expected, to, 0, success, failure))

#endif
