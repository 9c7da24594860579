/*
 * What runs in the JIT. Each function has one caller, so that where a sample is says what its call
 * chain must be: leaf < middle < outer < run.
 */
#include <stdint.h>

/* Inlined everywhere, square() into it. */
static inline uint64_t square(uint64_t x)
{
    return x * x
        + 1;
}

static inline uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccd;
    return square(x ^ x >> 29);
}

/* Nothing on the stack but the return address. */
__attribute__((noinline)) uint64_t leaf(uint64_t x, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++)
        x = mix(x + i);
    return x;
}

/* Saved registers, and a frame found from the stack pointer. */
__attribute__((noinline)) uint64_t middle(uint64_t x, uint64_t rounds)
{
    volatile uint64_t words[8] = {0};
    for (uint64_t i = 0; i < rounds; i++) {
        words[i % 8] += mix(x);
        x += leaf(x, i % 64);
        x ^= words[x % 8];
    }
    /* As much call frame information as that of a function with a hundred exits. */
    __asm__(".rept 100\n .cfi_remember_state\n nop\n .cfi_restore_state\n nop\n .endr");
    return x;
}

/* A stack of variable size: a frame found from the frame pointer. */
__attribute__((noinline)) uint64_t outer(uint64_t x, uint64_t rounds)
{
    volatile uint64_t words[1 + rounds % 16];
    words[0] = x;
    for (uint64_t i = 0; i < rounds; i++) {
        for (uint64_t j = 0; j < 1000; j++)
            words[j % (1 + rounds % 16)] = mix(j);
        x += middle(words[0], 256);
    }
    return x + words[0];
}

uint64_t run(uint64_t rounds)
{
    uint64_t x = 0;
    for (uint64_t i = 0; i < rounds; i++)
        x += outer(x, 10 + i % 7);
    return x;
}
