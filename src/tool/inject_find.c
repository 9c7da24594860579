#include "platform/c_library.h"

#include "tool/inject_find.h"

#include "reader/dump_reader.h"
#include "reader/mapped_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* How long after the time in its header a dump is mapped at most, in nanoseconds. */
#define MAPPED_WITHIN UINT64_C(100000000)

struct finding {
    const struct dump_search *search;
    const struct scanned_mapping *mapping;
    const char *name;  /* the path that the process has mapped */
    bool has_namesake; /* another file of that name was mapped too */
    char *first;       /* of those that are there */
    bool sure;         /* it is `first` */
};

static const char *base_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static const char *name_of(const struct scanned_mapping *mapping)
{
    return (const char *)mapping->name.data; /* with its NUL */
}

/* Namesakes */

static bool has_id(const struct perf_file_id *a, const struct perf_file_id *b)
{
    return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

/* Another process's dump of the same name. Ids alone don't tell: the next container's file system may get the
 * number of one that is gone. But who is seen to map a dump has made it; a child of a fork has its
 * parent's mapping, and where perf came later both have the same file. */
static bool is_namesake(const struct scanned_mapping *a, const struct scanned_mapping *b)
{
    const bool both_made = a->time != 0 && b->time != 0;
    const bool apart = a->file.inode != 0 && b->file.inode != 0 && !has_id(&a->file, &b->file);
    return a->pid != b->pid && (both_made || apart) &&
           strcmp(base_of(name_of(a)), base_of(name_of(b))) == 0;
}

/* Whose a file is */

static bool is_the_file(const struct finding *finding, const char *path)
{
    const struct profile_scan *const scan = finding->search->scan;
    const struct perf_file_id *const wanted = &finding->mapping->file;
    struct stat status;
    if (wanted->inode == 0 || stat(path, &status) != 0)
        return false;
    const struct perf_file_id id = {major(status.st_dev), minor(status.st_dev), status.st_ino};
    if (!has_id(wanted, &id))
        return false;
    for (uint64_t i = 0; i < scan->dump_count; i++)
        if (is_namesake(finding->mapping, &scan->dumps[i]) && has_id(wanted, &scan->dumps[i].file))
            return false;
    return true;
}

/* CLOCK_MONOTONIC, as the profile has it; 0: the dump has none of that. */
static uint64_t opened_at(const char *path)
{
    struct mapped_file file;
    struct dump_reader reader;
    uint64_t time = 0;
    if (jd_mapped_file_open(&file, path) != 0)
        return 0;
    if (jd_dump_reader_init(&reader, (struct span){file.data, file.size}) &&
        (reader.header.flags & JITDUMP_FLAGS_ARCH_TIMESTAMP) == 0)
        time = reader.header.timestamp;
    jd_mapped_file_close(&file);
    return time;
}

static bool opened_for(const struct scanned_mapping *mapping, uint64_t time)
{
    return mapping->time >= time && mapping->time - time < MAPPED_WITHIN;
}

/* A copy has the time in its header, which no namesake's mapping may fit as well. */
static bool is_of_that_time(const struct finding *finding, const char *path)
{
    const struct profile_scan *const scan = finding->search->scan;
    const struct perf_attr *const attr = &finding->search->data->attrs[0];
    if ((attr->flags & PERF_ATTR_USE_CLOCKID) == 0 || attr->clockid != PERF_CLOCK_MONOTONIC)
        return false;
    const uint64_t time = opened_at(path);
    if (time == 0 || !opened_for(finding->mapping, time))
        return false;
    for (uint64_t i = 0; i < scan->dump_count; i++)
        if (is_namesake(finding->mapping, &scan->dumps[i]) && opened_for(&scan->dumps[i], time))
            return false;
    return true;
}

/* Candidates */

/* Takes the path. `sure` if it must be the one, wherever it is. False: out of memory. */
static bool consider(struct finding *finding, char *path, bool sure)
{
    if (path == NULL)
        return false;
    if (finding->sure || access(path, F_OK) != 0) {
        free(path);
        return true;
    }
    sure = sure || is_the_file(finding, path) ||
           (finding->has_namesake && is_of_that_time(finding, path));
    if (finding->first != NULL && !sure) {
        free(path);
        return true;
    }
    free(finding->first);
    finding->first = path;
    finding->sure = sure;
    return true;
}

static char *print_path(const char *format, const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, format, folder, name) < 0 ? NULL : path;
}

/* The request's: the one of that path, else those of that name. */
static bool consider_named(struct finding *finding)
{
    const struct inject_request *const request = finding->search->request;
    for (uint32_t i = 0; i < request->dump_count; i++) {
        if (request->dump_pids[i] != 0 && request->dump_pids[i] != finding->mapping->pid)
            continue; /* it is another's */
        if (strcmp(base_of(request->dumps[i]), base_of(finding->name)) != 0)
            continue;
        char *const real = realpath(request->dumps[i], NULL);
        const bool same = real != NULL && strcmp(real, finding->name) == 0;
        free(real);
        finding->search->used[i] = true;
        if (!consider(finding, strdup(request->dumps[i]), same && !finding->has_namesake))
            return false;
    }
    return true;
}

static bool is_elsewhere(uint32_t pid)
{
    char path[64], ours[64], theirs[64];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/ns/mnt", pid);
    const ssize_t our_size = readlink("/proc/self/ns/mnt", ours, sizeof(ours));
    const ssize_t their_size = readlink(path, theirs, sizeof(theirs));
    return our_size > 0 && their_size > 0 &&
           (our_size != their_size || memcmp(ours, theirs, (size_t)our_size) != 0);
}

/* In a container that still runs, whose file system is not this one. */
static bool consider_container(struct finding *finding)
{
    char root[64];
    if (!is_elsewhere(finding->mapping->pid))
        return true;
    snprintf(root, sizeof(root), "/proc/%" PRIu32 "/root", finding->mapping->pid);
    return consider(finding, print_path("%s%s", root, finding->name), true);
}

static bool consider_all(struct finding *finding)
{
    const struct inject_request *const request = finding->search->request;
    if (!consider_named(finding))
        return false;
    /* What was named is meant, if it is no namesake's. */
    if (finding->first != NULL && (finding->sure || !finding->has_namesake))
        return true;
    for (uint32_t i = 0; i < request->folder_count; i++)
        if (!consider(finding, print_path("%s/%s", request->folders[i], base_of(finding->name)), false))
            return false;
    return consider_container(finding) && consider(finding, strdup(finding->name), false);
}

enum found find_dump(const struct dump_search *search, const struct scanned_mapping *mapping,
                     char **path)
{
    struct finding finding = {.search = search, .mapping = mapping, .name = name_of(mapping)};
    for (uint64_t i = 0; i < search->scan->dump_count && !finding.has_namesake; i++)
        finding.has_namesake = is_namesake(mapping, &search->scan->dumps[i]);
    const bool enough = consider_all(&finding);
    if (enough && finding.first == NULL)
        finding.first = strdup(finding.name);
    else if (enough && finding.has_namesake && !finding.sure) {
        free(finding.first);
        return FOUND_SEVERAL;
    }
    *path = finding.first;
    return enough && finding.first != NULL ? FOUND : FOUND_NO_MEMORY;
}
