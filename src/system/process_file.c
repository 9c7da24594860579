#include "../platform/c_library.h"

#include "process_file.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <libproc.h>
#endif

#define SECOND_NS INT64_C(1000000000)

/* The kernel gives files the time of its last clock tick: at most so long ago. */
#define TICK_NS INT64_C(10000000)

/* Where a time has no fraction, the file system may keep none, or only even seconds. */
#define COARSE_NS (2 * SECOND_NS)

/* What was made here, the last file of each path, as far as there is room. Of a file that is
 * forgotten it is not known that it was ours: it stays. */
enum { MADE_FILES = 64 };
static struct made_file {
    uint64_t path_hash; /* 0: nothing */
    uint64_t device;
    uint64_t inode;
    bool is_closed;
    /* When it was changed last, as of its close; 0: unknown. What another one has made in its place
     * since may have its inode number. */
    int64_t changed_ns;
} made_files[MADE_FILES];
static uint32_t next_made_file;

static int64_t time_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

static int64_t changed_ns(const struct stat *status)
{
#if defined(__APPLE__)
    return time_ns(status->st_mtimespec);
#else
    return time_ns(status->st_mtim);
#endif
}

#if defined(__APPLE__)

/* When the process began, by the clock that files have. Negative: unknown. */
static int64_t start_ns(void)
{
    struct proc_bsdinfo info;
    if (proc_pidinfo(getpid(), PROC_PIDTBSDINFO, 0, &info, (int)sizeof(info)) != (int)sizeof(info))
        return -1;
    return (int64_t)info.pbi_start_tvsec * SECOND_NS + (int64_t)info.pbi_start_tvusec * 1000;
}

#else

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) == 0 ? time_ns(now) : 0;
}

/* Field 22 of proc(5)'s stat: the start, in clock ticks since the boot. Negative: unknown. */
static int64_t start_since_boot_ns(void)
{
    char text[1024];
    const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t size = pread(fd, text, sizeof(text) - 1, 0);
    close(fd);
    if (size <= 0)
        return -1;
    text[size] = '\0';
    /* The second field, a name in parentheses, may have spaces and parentheses itself. */
    const char *field = strrchr(text, ')');
    for (int i = 2; field != NULL && i < 22; i++)
        field = strchr(field + 1, ' ');
    if (field == NULL)
        return -1;
    const int64_t ticks = strtoll(field + 1, NULL, 10), per_second = sysconf(_SC_CLK_TCK);
    return ticks / per_second * SECOND_NS + ticks % per_second * SECOND_NS / per_second;
}

/* When the process began, by the clock that files have, as that goes now: it may be set. Negative:
 * unknown. */
static int64_t start_ns(void)
{
    const int64_t since_boot_ns = start_since_boot_ns();
    if (since_boot_ns < 0)
        return -1;
    /* In this order: what comes between the two makes the start earlier, which errs on the side of
     * a file that is kept. */
    const int64_t now_ns = clock_ns(CLOCK_REALTIME);
    const int64_t age_ns = clock_ns(CLOCK_BOOTTIME) - since_boot_ns;
    return now_ns - age_ns;
}

#endif

/* Older than the process. */
static bool is_older(const struct stat *status)
{
    const int64_t began_ns = start_ns(), time = changed_ns(status);
    const int64_t step_ns = time % SECOND_NS == 0 ? COARSE_NS : TICK_NS;
    return began_ns >= 0 && time + step_ns < began_ns;
}

static bool is_left_behind(const struct made_file *made, const struct stat *status)
{
    return made->is_closed && made->device == (uint64_t)status->st_dev &&
           made->inode == (uint64_t)status->st_ino &&
           (made->changed_ns == 0 || made->changed_ns == changed_ns(status));
}

/* FNV-1a. */
static uint64_t hash_path(const char *path)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *path != '\0'; path++)
        hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
    return hash | 1;
}

/* NULL: none of the path is known. */
static struct made_file *find_made(uint64_t path_hash)
{
    for (int i = 0; i < MADE_FILES; i++)
        if (made_files[i].path_hash == path_hash)
            return &made_files[i];
    return NULL;
}

bool jd_process_file_is_living(const char *path, const struct stat *status)
{
    const struct made_file *made = find_made(hash_path(path));
    return (made == NULL || !is_left_behind(made, status)) && !is_older(status);
}

void jd_process_file_made(const char *path, uint64_t device, uint64_t inode)
{
    const uint64_t path_hash = hash_path(path);
    struct made_file *made = find_made(path_hash);
    if (made == NULL)
        made = &made_files[next_made_file++ % MADE_FILES];
    *made = (struct made_file){.path_hash = path_hash, .device = device, .inode = inode};
}

void jd_process_file_closed(uint64_t device, uint64_t inode, int fd)
{
    for (struct made_file *made = made_files; made < made_files + MADE_FILES; made++)
        if (made->path_hash != 0 && made->device == device && made->inode == inode) {
            struct stat status;
            made->is_closed = true;
            made->changed_ns = fd >= 0 && fstat(fd, &status) == 0 ? changed_ns(&status) : 0;
        }
}
