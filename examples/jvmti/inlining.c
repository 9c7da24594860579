/*
 * Which method and line each piece of compiled code comes from, inlined calls included.
 *
 * HotSpot's compilers take notes of this at some addresses: where calls return, at instructions
 * that may trap, and, since an agent asks for these events, at the last instruction of each run
 * that comes from one place. So a note holds for its own instruction and for those between it
 * and the note before. HotSpot itself looks up an address that way when it walks a stack
 * (nmethod::pc_desc_near). Of the code behind the last note nothing is known.
 */
#include "agent.h"

#include <jvmticmlr.h>
#include <stdlib.h>

static const jvmtiCompiledMethodLoadInlineRecord *find_notes(const void *compile_info)
{
    const jvmtiCompiledMethodLoadRecordHeader *header = compile_info;
    while (header != NULL && (header->kind != JVMTI_CMLR_INLINE_INFO ||
                              header->majorinfoversion != JVMTI_CMLR_MAJOR_VERSION_1))
        header = header->next;
    return (const jvmtiCompiledMethodLoadInlineRecord *)header;
}

static bool allocate(struct inlining *inlining, const jvmtiCompiledMethodLoadInlineRecord *notes)
{
    /* Each frame may be a function and a position of its own. */
    const uint32_t note_count = notes != NULL ? (uint32_t)notes->numpcs : 0;
    uint32_t frame_count = 1;
    for (uint32_t i = 0; i < note_count; i++)
        frame_count += (uint32_t)notes->pcinfo[i].numstackframes;
    uint32_t table_size = 2;
    while (table_size < 2 * frame_count)
        table_size *= 2;
    *inlining = (struct inlining){
        .methods = malloc(frame_count * sizeof(*inlining->methods)),
        .functions = malloc(frame_count * sizeof(*inlining->functions)),
        .positions = malloc(frame_count * sizeof(*inlining->positions)),
        .bytecode_indexes = malloc(frame_count * sizeof(*inlining->bytecode_indexes)),
        .offsets = malloc((note_count + 1) * sizeof(*inlining->offsets)),
        .table_mask = table_size - 1,
        .function_table = calloc(table_size, sizeof(*inlining->function_table)),
        .position_table = calloc(table_size, sizeof(*inlining->position_table)),
    };
    inlining->track.struct_size = sizeof(inlining->track);
    inlining->track.functions = inlining->functions;
    inlining->track.positions = inlining->positions;
    inlining->track.offsets = inlining->offsets;
    return inlining->methods != NULL && inlining->functions != NULL &&
           inlining->positions != NULL && inlining->bytecode_indexes != NULL &&
           inlining->offsets != NULL && inlining->function_table != NULL &&
           inlining->position_table != NULL;
}

static uint32_t hash(uint64_t a, uint32_t b, uint32_t c)
{
    const uint64_t product = (a ^ ((uint64_t)b << 32 | c)) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(product >> 32);
}

/* JITDUMP_NONE: it can't be read. */
static uint32_t function_of(struct inlining *inlining, jvmtiEnv *jvmti, jmethodID id)
{
    uint32_t *entry;
    for (uint32_t slot = hash((uintptr_t)id, 0, 0);; slot++) {
        entry = &inlining->function_table[slot & inlining->table_mask];
        if (*entry == 0)
            break;
        if (inlining->methods[*entry - 1].id == id)
            return *entry - 1;
    }
    const uint32_t function = (uint32_t)inlining->track.function_count;
    struct method *method = &inlining->methods[function];
    if (!method_read(method, jvmti, id)) {
        method_free(method, jvmti);
        return JITDUMP_NONE;
    }
    inlining->functions[function] =
        (struct jitdump_function){.name = method->name, .file = method->file};
    *entry = function + 1;
    inlining->track.function_count++;
    return function;
}

/* By bytecode index, not by line: a line may have two calls. */
static uint32_t position_of(struct inlining *inlining, uint32_t function, jint bytecode_index,
                            uint32_t caller)
{
    uint32_t *entry;
    for (uint32_t slot = hash(function, (uint32_t)bytecode_index, caller);; slot++) {
        entry = &inlining->position_table[slot & inlining->table_mask];
        if (*entry == 0)
            break;
        const struct jitdump_position *known = &inlining->positions[*entry - 1];
        if (known->function == function && known->caller == caller &&
            inlining->bytecode_indexes[*entry - 1] == bytecode_index)
            return *entry - 1;
    }
    const uint32_t position = (uint32_t)inlining->track.position_count;
    inlining->positions[position] = (struct jitdump_position){
        .function = function,
        .line = method_line(&inlining->methods[function], bytecode_index),
        .caller = caller,
    };
    inlining->bytecode_indexes[position] = bytecode_index;
    *entry = position + 1;
    inlining->track.position_count++;
    return position;
}

static uint32_t position_of_note(struct inlining *inlining, jvmtiEnv *jvmti,
                                 const PCStackInfo *note)
{
    uint32_t position = JITDUMP_NONE;
    for (jint i = note->numstackframes; i-- > 0;) { /* the outermost frame is the last */
        const uint32_t function = function_of(inlining, jvmti, note->methods[i]);
        if (function == JITDUMP_NONE)
            break;
        position = position_of(inlining, function, note->bcis[i], position);
    }
    return position;
}

static void add_offset(struct inlining *inlining, uint32_t code_offset, uint32_t position)
{
    inlining->offsets[inlining->track.offset_count++] =
        (struct jitdump_offset){code_offset, position};
}

bool inlining_read(struct inlining *inlining, jvmtiEnv *jvmti, jmethodID id,
                   const void *code_addr, uint32_t code_size, const void *compile_info)
{
    const jvmtiCompiledMethodLoadInlineRecord *notes = find_notes(compile_info);
    if (!allocate(inlining, notes) || function_of(inlining, jvmti, id) == JITDUMP_NONE)
        return false;
    uint32_t described = 0; /* so many bytes */
    for (jint i = 0; notes != NULL && i < notes->numpcs; i++) {
        const PCStackInfo *note = &notes->pcinfo[i];
        const uintptr_t offset = (uintptr_t)note->pc - (uintptr_t)code_addr;
        /* Notes of the handlers behind the method's own code are not for this range. */
        if (offset < described || offset >= code_size)
            continue;
        add_offset(inlining, described, position_of_note(inlining, jvmti, note));
        /* Of an instruction the first byte suffices: no sample has another one's address. */
        described = (uint32_t)offset + 1;
    }
    if (described > 0 && described < code_size)
        add_offset(inlining, described, JITDUMP_NONE);
    return true;
}

void inlining_free(struct inlining *inlining, jvmtiEnv *jvmti)
{
    for (uint64_t i = 0; i < inlining->track.function_count; i++)
        method_free(&inlining->methods[i], jvmti);
    free(inlining->methods);
    free(inlining->functions);
    free(inlining->positions);
    free(inlining->bytecode_indexes);
    free(inlining->offsets);
    free(inlining->function_table);
    free(inlining->position_table);
}
