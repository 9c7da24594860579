#define _GNU_SOURCE
#include "large_files.h"

#include "dump_file.h"

#include "jitdump.h"
#include "new_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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
        directory = secure_getenv("JITDUMPDIR");
    if (directory == NULL || directory[0] == '\0')
        directory = ".";
    if (realpath(directory, absolute) == NULL) {
        const int error = jd_new_file_error(errno);
        snprintf(absolute, PATH_MAX, "%s", directory);
        return error;
    }
    struct stat status;
    if (stat(absolute, &status) != 0 || !S_ISDIR(status.st_mode))
        return JITDUMP_ERROR_DIRECTORY_MISSING;
    return 0;
}

/* An executable mapping of the file is the event by which perf and samply find it, and
 * stays until close for those that are attached later. */
static int map_marker(struct dump_file *file)
{
    file->marker_size = (size_t)sysconf(_SC_PAGESIZE);
    file->marker =
        mmap(NULL, file->marker_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file->fd, 0);
    if (file->marker != MAP_FAILED)
        return 0;
    file->marker = NULL;
    /* EPERM: mounted noexec. EACCES: a security policy. */
    return failed(file, errno == EPERM || errno == EACCES ? JITDUMP_ERROR_DIRECTORY_NOEXEC
                        : errno == ENOMEM                 ? JITDUMP_ERROR_NO_MEMORY
                                                          : JITDUMP_ERROR_IO);
}

int jd_dump_file_create(struct dump_file *file, const char *directory,
                        const struct jitdump_file_header *header)
{
    *file = (struct dump_file){.fd = -1};
    const int length = snprintf(file->path, sizeof(file->path), "%s/jit-%u.dump",
                                strcmp(directory, "/") == 0 ? "" : directory, header->pid);
    if (length < 0 || (size_t)length >= sizeof(file->path)) {
        errno = ENAMETOOLONG;
        return failed(file, JITDUMP_ERROR_IO);
    }

    struct rlimit limit;
    file->resource_limit = UINT64_MAX;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        file->resource_limit = limit.rlim_cur;

    const struct iovec bytes = {(void *)(uintptr_t)header, sizeof(*header)};
    int error = jd_new_file_open(file->path, &file->fd);
    if (error != 0)
        failed(file, error);
    if (error == 0)
        error = jd_dump_file_append(file, &bytes, 1);
    if (error == 0)
        error = map_marker(file);
    if (error != 0)
        jd_dump_file_close(file, true);
    file->error = error;
    return error;
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

static size_t total_size(const struct iovec *bytes, int count)
{
    return bytes[0].iov_len + (count == 2 ? bytes[1].iov_len : 0);
}

/* Writes all of it, or as much as can be. Returns how much; sets errno if not all. */
static size_t write_all(int fd, const struct iovec *bytes, int count)
{
    struct iovec rest[2] = {bytes[0], bytes[count - 1]};
    const size_t size = total_size(bytes, count);
    size_t written = 0;
    while (written < size) {
        const ssize_t result = writev(fd, rest, count);
        if (result < 0 && errno == EINTR)
            continue;
        if (result <= 0) {
            if (result == 0)
                errno = ENOSPC; /* a regular file that takes nothing */
            break;
        }
        written += (size_t)result;
        size_t done = (size_t)result;
        for (int i = 0; i < count; i++) {
            const size_t step = done < rest[i].iov_len ? done : rest[i].iov_len;
            rest[i].iov_base = (char *)rest[i].iov_base + step;
            rest[i].iov_len -= step;
            done -= step;
        }
    }
    return written;
}

int jd_dump_file_append(struct dump_file *file, const struct iovec *bytes, int count)
{
    if (file->error != 0)
        return file->error;
    const size_t size = total_size(bytes, count);
    size_t written = 0;
    if (size > file->resource_limit - file->size) {
        /* Not even tried: at the limit the kernel would send SIGXFSZ, which kills. */
        errno = EFBIG;
    } else {
        written = write_all(file->fd, bytes, count);
    }
    if (written == size) {
        file->size += size;
    } else {
        const int error = jd_new_file_error(errno);
        /* The errors of an open don't happen to a write. */
        file->error = error == JITDUMP_ERROR_DISK_FULL || error == JITDUMP_ERROR_FILE_TOO_LARGE
                          ? error
                          : JITDUMP_ERROR_IO;
        file->error_number = errno;
        file->size += whole_groups(bytes, written);
        /* If this fails too, a reader meets a record cut short by the end of the file, and
         * stops there. */
        while (ftruncate(file->fd, (off_t)file->size) != 0 && errno == EINTR)
            continue;
    }
    return file->error;
}

void jd_dump_file_close(struct dump_file *file, bool unlink_it)
{
    if (file->marker != NULL)
        munmap(file->marker, file->marker_size);
    file->marker = NULL;
    if (file->fd >= 0) {
        if (unlink_it)
            jd_new_file_unlink(file->path, file->fd);
        jd_new_file_close(file->fd);
    }
    file->fd = -1;
}

void jd_dump_file_abandon(struct dump_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
