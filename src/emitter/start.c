#include "../platform/c_library.h"

#include "start.h"

#include "source_records.h"

#include <unistd.h>

struct jitdump_file_header jd_file_header(const struct jitdump *dump)
{
    return (struct jitdump_file_header){
        .magic = JITDUMP_MAGIC,
        .version = JITDUMP_FILE_VERSION,
        .total_size = sizeof(struct jitdump_file_header),
        .elf_mach = dump->elf_mach,
        .pid = dump->pid,
        .timestamp = jd_clock_now(dump->buffer.clock),
        .flags = dump->buffer.clock == JITDUMP_CLOCK_TSC ? JITDUMP_FLAGS_ARCH_TIMESTAMP : 0,
    };
}

void jd_undo_start(struct jitdump *dump, int error)
{
    jd_background_stop(&dump->background);
    jd_dump_file_close(&dump->file, true);
    dump->file.error = error; /* it takes no more */
}

int jd_start(struct jitdump *dump)
{
    dump->pid = (uint32_t)getpid();
    const struct jitdump_file_header header = jd_file_header(dump);
    int error = dump->descriptor != 0
                    ? jd_dump_file_adopt(&dump->file, dump->descriptor, dump->signal, &header)
                    : jd_dump_file_create(&dump->file, dump->directory, dump->signal, &header);
    if (error != 0)
        return error;
    atomic_store_explicit(&dump->accepted, sizeof(header), memory_order_relaxed);
    atomic_store_explicit(&dump->last_flush, header.timestamp, memory_order_relaxed);
    if (dump->flush_mode == JITDUMP_FLUSH_BACKGROUND) {
        error = jd_background_start(&dump->background, &dump->buffer, dump->flush_interval_ns);
        if (error != 0)
            jd_undo_start(dump, error);
    }
    return error;
}

int jd_start_in_child(struct jitdump *dump)
{
    const struct process_shield shield = jd_process_shield();
    jd_process_lock();
    int error = sticky_error(dump);
    if (load_status(dump) == STATUS_FORKED) {
        jd_dump_file_close(&dump->file, false); /* the parent's marker page */
        if (dump->descriptor != 0)
            error = dump->file.error = JITDUMP_ERROR_DESCRIPTOR; /* it is that of the parent's file */
        else
            error = jd_start(dump);
        if (error == 0) {
            error = jd_append_sources(dump);
            if (error == 0 && dump->perf_map.functions != NULL)
                error = jd_perf_map_start_in_child(&dump->perf_map, dump->pid);
            if (error != 0)
                jd_undo_start(dump, error);
        }
        /* Not over an error of the first write. */
        int forked = STATUS_FORKED;
        const int status = error != 0 ? error : STATUS_OPEN;
        if (!atomic_compare_exchange_strong(dump->status, &forked, status))
            error = forked;
    }
    jd_process_unlock();
    jd_process_unshield(shield);
    return error;
}
