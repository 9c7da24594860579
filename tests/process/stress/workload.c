#include "workload.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Code, and payloads of raw records, are stretches of this, at an offset of their own: one
 * byte of the file that is lost, doubled or another's shows. */
#define POOL_SIZE (512 * 1024)
static unsigned char pool[POOL_SIZE];

#define LINES_MAX 150
#define CODE_DISTANCE (UINT64_C(1) << 20)
#define MOVE_DISTANCE (CODE_DISTANCE / 2)

/* A CIE and an FDE of 24 bytes each, the latter with up to 60 bytes of DW_CFA_nop. */
#define CIE_SIZE 24
#define FDE_SIZE 24
#define NOPS_MAX 60
#define EH_FRAME_HDR_SIZE 20

enum kind { LOAD, MOVE, RAW };

struct operation {
    enum kind kind;
    /* Bits for whoever needs some. */
    uint64_t hash;
    /* Of code, or of the payload behind its first 12 bytes; of a move, as the record says it. */
    uint64_t size;
    const unsigned char *bytes;
    uint64_t code_addr;
};

/* The finalizer of SplitMix64. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

void workload_init(void)
{
    for (uint64_t i = 0; i < POOL_SIZE / 8; i++) {
        const uint64_t word = mix(i);
        for (unsigned byte = 0; byte < 8; byte++)
            pool[8 * i + byte] = (unsigned char)(word >> (8 * byte));
    }
}

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t size_of(uint64_t hash, uint64_t size_max)
{
    const uint64_t random = hash >> 32;
    switch (hash & 15) {
    case 0:
        return 0;
    case 1:
        return size_max / 3 + random % (size_max - size_max / 3 + 1);
    case 2:
    case 3:
        return min(size_max, 4096 + random % 12288);
    default:
        return min(size_max, 1 + random % 2048);
    }
}

static bool has_unwinding(const struct operation *operation)
{
    return operation->size > 0 && (operation->hash >> 6 & 3) == 0;
}

static uint64_t align8(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

static uint64_t eh_frame_size_of(const struct operation *operation)
{
    return CIE_SIZE + FDE_SIZE + 4 * (operation->hash >> 30 & 15);
}

/* What a move names as the size: with the unwinding data, which moves along (P21). */
static uint64_t mapped_size(const struct operation *operation)
{
    return has_unwinding(operation)
               ? align8(operation->size) + eh_frame_size_of(operation) + EH_FRAME_HDR_SIZE
               : operation->size;
}

static struct operation operation_of(const struct workload *workload, uint32_t thread,
                                     uint64_t sequence)
{
    struct operation operation;
    const uint64_t first = mix(workload->seed ^ (uint64_t)thread << 48 ^ sequence);
    const uint64_t second = mix(first);
    operation.kind = (first & 15) == 0 ? RAW : (first & 15) <= 2 ? MOVE : LOAD;
    operation.hash = first >> 4;
    operation.size = size_of(second, workload->code_size_max);
    operation.bytes = pool + (first >> 20) % (POOL_SIZE - operation.size);
    operation.code_addr = (thread + UINT64_C(1)) << 40 | sequence * CODE_DISTANCE;
    if (operation.kind == MOVE) {
        /* What the operation before can't give is a load instead. */
        struct operation before = {.kind = MOVE};
        if (sequence > 0)
            before = operation_of(workload, thread, sequence - 1);
        if (before.kind == LOAD && before.size > 0 && (before.hash & 1) == 0) {
            operation.size = mapped_size(&before);
            operation.code_addr = before.code_addr;
        } else {
            operation.kind = LOAD;
        }
    }
    return operation;
}

static uint64_t make_lines(const struct operation *operation, struct jitdump_line *lines)
{
    static const char *const files[] = {"src/one.js", "src/two.js"};
    const uint64_t hash = operation->hash;
    const uint64_t choice = hash >> 8 & 15;
    uint64_t count = choice < 8    ? 0
                     : choice < 15 ? 1 + (hash >> 12 & 7)
                                   : 1 + (hash >> 12) % LINES_MAX;
    count = min(count, operation->size);
    for (uint64_t i = 0; i < count; i++) {
        lines[i].code_addr = operation->code_addr + i * (operation->size / count);
        lines[i].line = (uint32_t)(1 + (hash >> 20 & 0xffff) + i);
        lines[i].column = (uint32_t)((hash + i) & 63);
        lines[i].file = files[(hash + i) >> 2 & 1];
    }
    return count;
}

static void put32(unsigned char *at, uint64_t value)
{
    const uint32_t low = (uint32_t)value;
    memcpy(at, &low, sizeof(low));
}

/* Unwinding data for one function whose CFA is rsp + 8 all along, in the encodings and in
 * the layout that perf wants. Returns the size of the eh_frame. */
static uint64_t make_unwinding(const struct operation *operation,
                               unsigned char eh_frame[CIE_SIZE + FDE_SIZE + NOPS_MAX],
                               unsigned char eh_frame_hdr[EH_FRAME_HDR_SIZE])
{
    static const unsigned char cie[CIE_SIZE - 8] = {
        1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, /* version, augmentation, alignments, RA, pcrel */
        0x0c, 7, 8, 0x90, 1, 0, 0,            /* CFA = rsp + 8, RA at CFA - 8 */
    };
    const uint64_t eh_frame_size = eh_frame_size_of(operation);
    const uint64_t eh_frame_addr = align8(operation->size);

    memset(eh_frame, 0, (size_t)eh_frame_size);
    put32(eh_frame, CIE_SIZE - 4);
    memcpy(eh_frame + 8, cie, sizeof(cie));
    put32(eh_frame + CIE_SIZE, eh_frame_size - CIE_SIZE - 4);
    put32(eh_frame + CIE_SIZE + 4, CIE_SIZE + 4);
    put32(eh_frame + CIE_SIZE + 8, 0 - (eh_frame_addr + CIE_SIZE + 8));
    put32(eh_frame + CIE_SIZE + 12, operation->size);

    memcpy(eh_frame_hdr, "\x01\x1b\x03\x3b", 4);
    put32(eh_frame_hdr + 4, 0 - (eh_frame_size + 4));
    put32(eh_frame_hdr + 8, 1);
    put32(eh_frame_hdr + 12, 0 - (eh_frame_addr + eh_frame_size));
    put32(eh_frame_hdr + 16, CIE_SIZE - eh_frame_size);
    return eh_frame_size;
}

static int load(struct workload_thread *thread, struct jitdump *dump, uint64_t sequence,
                const struct operation *operation)
{
    char name[128];
    struct jitdump_line lines[LINES_MAX];
    unsigned char eh_frame[CIE_SIZE + FDE_SIZE + NOPS_MAX];
    unsigned char eh_frame_hdr[EH_FRAME_HDR_SIZE];
    const int name_size = 1 + snprintf(name, sizeof(name), "t%u.%llu%.*s", thread->number,
                                       (unsigned long long)sequence, (int)(operation->hash & 63),
                                       " with a tail of its own length, up to 62 characters, or none..");
    struct jitdump_code code = {
        .struct_size = sizeof(code),
        .name = name,
        .code_addr = operation->code_addr,
        .code_size = operation->size,
        .code_bytes = operation->bytes,
        .line_count = make_lines(operation, lines),
    };
    uint64_t file_bytes = 56 + (uint64_t)name_size + operation->size;
    if (code.line_count > 0) {
        code.lines = lines;
        /* The names of the two files have one length; one more entry closes the table. */
        file_bytes += 32 + (code.line_count + 1) * (16 + strlen(lines[0].file) + 1);
    }
    if (has_unwinding(operation)) {
        code.eh_frame = eh_frame;
        code.eh_frame_size = make_unwinding(operation, eh_frame, eh_frame_hdr);
        code.eh_frame_hdr = eh_frame_hdr;
        code.eh_frame_hdr_size = EH_FRAME_HDR_SIZE;
        file_bytes += 40 + code.eh_frame_size + EH_FRAME_HDR_SIZE;
    }
    const int error = jitdump_load(dump, &code, &thread->code_index);
    if (error == 0)
        thread->file_bytes += file_bytes;
    return error;
}

static int append_raw(struct workload_thread *thread, struct jitdump *dump, uint64_t sequence,
                      const struct operation *operation)
{
    /* Not on the stack, of which musl gives a thread 128 KiB. */
    static _Thread_local unsigned char payload[12 + WORKLOAD_CODE_SIZE_MAX];
    const uint64_t payload_size = 12 + operation->size;
    assert(payload_size <= sizeof(payload));
    put32(payload, thread->number);
    memcpy(payload + 4, &sequence, sizeof(sequence));
    memcpy(payload + 12, operation->bytes, (size_t)operation->size);
    const int error =
        jitdump_append_raw(dump, 5 + (uint32_t)(operation->hash & 0xff), payload, payload_size);
    if (error == 0)
        thread->file_bytes += 16 + payload_size;
    return error;
}

int workload_append(struct workload_thread *thread, struct jitdump *dump, uint64_t sequence,
                    uint64_t *code_index)
{
    const struct operation operation = operation_of(thread->workload, thread->number, sequence);
    int error;
    *code_index = 0;
    switch (operation.kind) {
    case LOAD:
        error = load(thread, dump, sequence, &operation);
        *code_index = thread->code_index;
        return error;
    case MOVE:
        error = jitdump_move(dump, thread->code_index, operation.code_addr,
                             operation.code_addr + MOVE_DISTANCE, operation.size);
        if (error == 0)
            thread->file_bytes += 64;
        return error;
    case RAW:
        break;
    }
    return append_raw(thread, dump, sequence, &operation);
}
