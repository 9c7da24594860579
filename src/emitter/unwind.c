/*
 * The public functions about frames, beside what jitdump_load() does with them.
 */
#include "../platform/c_library.h"

#include "handle.h"

#include "../encode/eh_frame.h"
#include "../encode/record.h"
#include "../encode/struct_size.h"
#include "../format/elf_mach.h"

int jitdump_unwind_size(const struct jitdump *dump, const struct jitdump_code *code,
                        uint64_t *size)
{
    struct jitdump_code copy;
    struct unwind_size data = {0, 0};
    int error = 0;
    if (dump != NULL) {
        if (code == NULL || size == NULL)
            error = JITDUMP_ERROR_ARGUMENT;
        else if ((code = struct_known(code, &copy, sizeof(copy), CODE_SIZE_MIN)) == NULL)
            error = JITDUMP_ERROR_STRUCT_SIZE;
        else if (code->code_size > JITDUMP_CODE_SIZE_MAX)
            error = JITDUMP_ERROR_CODE_SIZE;
        else
            error = jd_unwind_check(code, dump->elf_mach, NULL, &data);
    }
    if (size != NULL) {
        *size = data.eh_frame + data.eh_frame_hdr;
        if (*size != 0)
            *size += eh_frame_offset(code->code_size) - code->code_size;
    }
    return error;
}

int jitdump_unwind_eh_frame(uint32_t elf_mach, const struct jitdump_code *code, void *eh_frame,
                            uint64_t capacity, uint64_t *eh_frame_size)
{
    if (eh_frame_size == NULL)
        return JITDUMP_ERROR_ARGUMENT;
    *eh_frame_size = 0;
    if (code == NULL || (eh_frame == NULL && capacity != 0))
        return JITDUMP_ERROR_ARGUMENT;
    struct jitdump_code copy;
    code = struct_known(code, &copy, sizeof(copy), CODE_SIZE_MIN);
    if (code == NULL)
        return JITDUMP_ERROR_STRUCT_SIZE;
    if (code->unwind == NULL)
        return JITDUMP_ERROR_ARGUMENT;
    if (elf_mach == 0)
        elf_mach = BUILD_ELF_MACH;
    int error = jd_record_range_check(code->code_addr, code->code_size);
    if (error == 0)
        error = jd_eh_frame_absolute(code, elf_mach, NULL, eh_frame_size);
    if (error != 0)
        return error;
    if (*eh_frame_size > capacity)
        return JITDUMP_ERROR_UNWIND_CAPACITY;
    return jd_eh_frame_absolute(code, elf_mach, eh_frame, eh_frame_size);
}
