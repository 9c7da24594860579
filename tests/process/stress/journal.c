#define _GNU_SOURCE
#include "journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct journal_thread) == 64, "as journal.py has it");
_Static_assert(sizeof(struct journal) == 64, "as journal.py has it");

static size_t size_of(uint64_t thread_count, uint64_t operations)
{
    return sizeof(struct journal) + (size_t)thread_count * sizeof(struct journal_thread) +
           (size_t)(thread_count * operations) * sizeof(uint64_t);
}

struct journal *journal_create(const char *directory, uint64_t seed, uint64_t code_size_max,
                               uint64_t thread_count, uint64_t operations)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/journal-%d", directory, (int)getpid());
    const size_t size = size_of(thread_count, operations);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct journal *journal = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
        journal = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (journal == MAP_FAILED) {
        perror(path);
        _exit(1);
    }
    close(fd);
    journal->seed = seed;
    journal->code_size_max = code_size_max;
    journal->thread_count = thread_count;
    journal->operations = operations;
    atomic_store(&journal->magic, JOURNAL_MAGIC);
    return journal;
}

void journal_unmap(struct journal *journal)
{
    munmap(journal, size_of(journal->thread_count, journal->operations));
}

void journal_returned(struct journal *journal, uint64_t thread, uint64_t sequence,
                      uint64_t code_index)
{
    uint64_t *code_indices = (uint64_t *)(journal->threads + journal->thread_count);
    code_indices[thread * journal->operations + sequence] = code_index;
    /* Release: whoever counts the append has its index too. */
    atomic_store_explicit(&journal->threads[thread].returned, sequence + 1, memory_order_release);
}

void journal_snapshot(const struct journal *journal, uint64_t *returned)
{
    for (uint64_t i = 0; i < journal->thread_count; i++)
        returned[i] = atomic_load_explicit(&journal->threads[i].returned, memory_order_acquire);
}

void journal_flushed(struct journal *journal, const uint64_t *snapshot)
{
    for (uint64_t i = 0; i < journal->thread_count; i++) {
        _Atomic uint64_t *flushed = &journal->threads[i].flushed;
        uint64_t known = atomic_load(flushed);
        while (known < snapshot[i] && !atomic_compare_exchange_weak(flushed, &known, snapshot[i]))
            continue;
    }
}
