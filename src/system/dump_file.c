#include "../platform/c_library.h"

#include "dump_file.h"

#include "announce.h"
#include "shield.h"
#include "jitdump.h"
#include "new_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(struct dump_file *file, int error)
{
    file->error_number = errno;
    return error;
}

int jd_dump_file_directory(const char *directory, char absolute[PATH_MAX])
{
    if (directory == NULL)
        directory = jd_process_getenv("JITDUMPDIR");
    if (directory == NULL || directory[0] == '\0')
        directory = ".";
    if (realpath(directory, absolute) == NULL) {
        const int error = jd_new_file_error(errno);
        snprintf(absolute, PATH_MAX, "%s", directory);
        return error;
    }
    struct stat status;
    if (stat(absolute, &status) != 0)
        return jd_new_file_error(errno);
    return S_ISDIR(status.st_mode) ? 0 : JITDUMP_ERROR_DIRECTORY_MISSING;
}

static int begin(struct dump_file *file, const struct jitdump_file_header *header)
{
    const struct iovec bytes = {(void *)(uintptr_t)header, sizeof(*header)};
    int error = jd_dump_file_append(file, &bytes, 1);
    if (error == 0) {
        error = jd_announce(&file->announcement, file->is_adopted ? NULL : file->path,
                            file->on_disk.fd);
        if (error != 0)
            file->error_number = errno;
    }
    if (error != 0)
        jd_dump_file_close(file, true);
    file->error = error;
    return error;
}

int jd_dump_file_create(struct dump_file *file, const char *directory, int signal,
                        const struct jitdump_file_header *header)
{
    *file = (struct dump_file){.on_disk = NEW_FILE_NONE};
    const int length = snprintf(file->path, sizeof(file->path), "%s/jit-%u.dump",
                                strcmp(directory, "/") == 0 ? "" : directory, header->pid);
    if (length < 0 || (size_t)length >= sizeof(file->path)) {
        errno = ENAMETOOLONG;
        return failed(file, JITDUMP_ERROR_IO);
    }

    file->error = jd_new_file_open(file->path, NEW_FILE_IN_PROCESS, signal, &file->on_disk);
    return file->error != 0 ? failed(file, file->error) : begin(file, header);
}

int jd_dump_file_adopt(struct dump_file *file, int descriptor, int signal,
                       const struct jitdump_file_header *header)
{
    *file = (struct dump_file){.on_disk = NEW_FILE_NONE, .is_adopted = true};
    snprintf(file->path, sizeof(file->path), "descriptor %d", descriptor);
    file->error = jd_new_file_adopt(descriptor, signal, &file->on_disk);
    return file->error != 0 ? failed(file, file->error) : begin(file, header);
}

/* Whether a record of the id belongs to the next JIT_CODE_LOAD. A tier's id is that of the
 * inline record of 2026 too, of which the same is true. */
static bool precedes_load(uint32_t id)
{
    return id == JIT_CODE_DEBUG_INFO || id == JIT_CODE_UNWINDING_INFO ||
           id == SAMPLY_JIT_CODE_DEBUG_INFO2 || id == SAMPLY_JIT_TIER;
}

/* How many of the first `written` bytes are whole groups of records. A group is what belongs
 * to a JIT_CODE_LOAD and goes before it, and that; or any other record alone. `bytes` ends
 * with a record, and only the last can reach beyond the first element. */
static size_t whole_groups(const struct iovec *bytes, size_t written)
{
    struct jit_record_header header;
    size_t at = 0, whole = 0;
    while (written - at >= sizeof(header) && bytes->iov_len - at >= sizeof(header)) {
        memcpy(&header, (const char *)bytes->iov_base + at, sizeof(header));
        if (header.total_size > written - at)
            break;
        at += header.total_size;
        if (!precedes_load(header.id))
            whole = at;
    }
    return whole;
}

/* Takes the last `surplus` bytes off. If that fails, a reader meets a record cut short by the end
 * of the file, and stops there. The file's own size counts: if someone has cut it, a size of
 * ours would make it longer, with zeros. */
static void cut_back(const struct new_file *file, size_t surplus)
{
    struct stat status;
    if (surplus == 0 || !jd_new_file_is_open(file) || fstat(file->fd, &status) != 0 ||
        (uint64_t)status.st_size < surplus)
        return;
    while (ftruncate(file->fd, status.st_size - (off_t)surplus) != 0 && errno == EINTR)
        continue;
}

/* The errors of an open don't happen to a write. */
static int write_error(int error_number)
{
    const int error = jd_new_file_error(error_number);
    return error == JITDUMP_ERROR_DISK_FULL || error == JITDUMP_ERROR_FILE_TOO_LARGE
               ? error
               : JITDUMP_ERROR_IO;
}

int jd_dump_file_append(struct dump_file *file, const struct iovec *bytes, int count)
{
    if (file->error != 0)
        return file->error;
    const size_t size = bytes[0].iov_len + (count == 2 ? bytes[1].iov_len : 0);
    const size_t written = jd_new_file_append(&file->on_disk, bytes, count);
    if (written != size) {
        file->error_number = errno;
        file->error = write_error(errno);
        cut_back(&file->on_disk, written - whole_groups(bytes, written));
    }
    return file->error;
}

int jd_dump_file_empty(struct dump_file *file, const struct jitdump_file_header *header)
{
    if (file->on_disk.fd < 0)
        return 0;
    const int error_number =
        file->is_adopted
            ? jd_new_file_cut(&file->on_disk, sizeof(*header))
            : jd_new_file_replace(file->path, &file->on_disk, header, sizeof(*header));
    return error_number != 0 ? write_error(error_number) : 0;
}

int jd_dump_file_close(struct dump_file *file, bool unlink_it)
{
    int error = 0;
    jd_announce_end(&file->announcement);
    if (file->on_disk.fd >= 0) {
        if (unlink_it && !file->is_adopted)
            jd_new_file_unlink(file->path, &file->on_disk);
        if (!jd_new_file_close(&file->on_disk) && !unlink_it)
            error = write_error(errno);
    }
    return error;
}

void jd_dump_file_abandon(struct dump_file *file)
{
    jd_new_file_abandon(&file->on_disk);
}
