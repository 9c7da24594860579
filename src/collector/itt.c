/*
 * Initialize() and NotifyEvent(): from events to functions of the dump.
 *
 * Several clients may be in a process, each with ids of its own, and all of a client's threads call. One
 * lock guards what is kept of the methods, and is held while they are written.
 */
#include "platform/c_library.h"

#include "itt.h"

#include "caller.h"
#include "itt_track.h"
#include "process_dump.h"
#include "source_file.h"
#include "system/shield.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a copy of the client. */
struct sender {
    const void *copy;
    struct itt_line_evidence evidence;
    struct sender *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool locked; /* by whoever may change what follows: for the child of a fork */
static struct itt_methods methods;
static struct sender *senders;
static pthread_once_t registered = PTHREAD_ONCE_INIT;

static void take(void)
{
    pthread_mutex_lock(&lock);
    locked = true;
}

static void leave(void)
{
    locked = false;
    pthread_mutex_unlock(&lock);
}

/* Where another thread was in the middle of a change, nothing that it has left can be used. */
static void begin_anew_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    if (!locked)
        return;
    locked = false;
    methods = (struct itt_methods){0};
    senders = NULL;
}

static void register_child(void)
{
    pthread_atfork(NULL, NULL, begin_anew_in_child);
}

/* NULL: out of memory. */
static struct sender *sender_of(const void *copy)
{
    struct sender *sender = senders;
    while (sender != NULL && sender->copy != copy)
        sender = sender->next;
    if (sender == NULL && (sender = calloc(1, sizeof(*sender))) != NULL) {
        *sender = (struct sender){.copy = copy, .next = senders};
        senders = sender;
    }
    return sender;
}

/* What an event says of a piece of code. */
struct reported {
    uint32_t id;
    const char *name;
    const void *address;
    uint32_t size;
    uint32_t line_count;
    const struct itt_line *lines;
    const char *class_name;
    const char *file;
};

static bool is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

static bool is_of_a_word(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '_' || (unsigned char)character >= 0x80;
}

/* Whether the class is in the name already: `a::b`, `Class.b`, but not `Classify`. What is in parentheses are
 * arguments. */
static bool is_qualified(const char *name, const char *class_name)
{
    const size_t end = strcspn(name, "("), length = strlen(class_name);
    const char *const colons = strstr(name, "::");
    return (colons != NULL && (size_t)(colons - name) < end) ||
           (strncmp(name, class_name, length) == 0 && !is_of_a_word(name[length]));
}

/* What the profiler shows: to be freed. NULL: out of memory. */
static char *full_name(const struct reported *reported, const struct itt_method *method)
{
    char *name = NULL;
    int length;
    if (is_empty(reported->name))
        length = method->region_count != 0 ? asprintf(&name, "%s", method->regions[0].name)
                                           : asprintf(&name, "itt_method_%u", method->id);
    else if (!is_empty(reported->class_name) && !is_qualified(reported->name, reported->class_name))
        length = asprintf(&name, "%s::%s", reported->class_name, reported->name);
    else
        length = asprintf(&name, "%s", reported->name);
    return length >= 0 ? name : NULL;
}

static void load(const struct itt_method *method, const struct itt_region *region)
{
    struct call_track track;
    struct jitdump_code code = {
        .name = region->name, .code_addr = region->address, .code_size = region->size};
    if (jd_itt_track_make(&track, method, region)) {
        code.tracks = &track.track;
        code.track_count = 1;
    }
    jd_collector_load(&code, LOADED_BY_ITT);
    jd_call_track_free(&track);
}

/* Loads all of a method's code anew, as it is now. */
static void load_again(const struct itt_method *method)
{
    for (uint32_t i = 0; i < method->region_count; i++)
        load(method, &method->regions[i]);
}

static struct reported reported_load(unsigned int event, const void *data)
{
    const struct itt_load *const load = data;
    const struct itt_load_v1 *const first = data;
    const struct itt_load_v2 *const second = data;
    return (struct reported){.id = load->id,
                             .name = load->name,
                             .address = load->address,
                             .size = load->size,
                             .line_count = load->line_count,
                             .lines = load->lines,
                             .class_name = event == ITT_LOAD ? first->class_name : second->class_name,
                             .file = event == ITT_LOAD ? first->file : second->file};
}

static struct reported reported_inline(const struct itt_inline_load *load)
{
    return (struct reported){.id = load->id,
                             .name = load->name,
                             .address = load->address,
                             .size = load->size,
                             .line_count = load->line_count,
                             .lines = load->lines,
                             .class_name = load->class_name,
                             .file = load->file};
}

static void set_lines(struct itt_region *region, const struct reported *reported,
                      struct sender *sender)
{
    if (reported->line_count == 0 || reported->lines == NULL)
        return;
    region->lines = malloc(((size_t)reported->line_count + 1) * sizeof(*region->lines));
    if (region->lines == NULL)
        return;
    const bool ends = jd_itt_lines_are_ends(reported->lines, reported->line_count, reported->size,
                                            &sender->evidence);
    region->line_count = jd_itt_lines_to_starts(region->lines, reported->lines, reported->line_count,
                                                reported->size, ends);
}

static void set_file(struct itt_region *region, const struct reported *reported,
                     const struct itt_method *method)
{
    const char *file = reported->file;
    if (is_empty(file) && method->region_count != 0)
        file = method->regions[0].file;
    if (is_empty(file))
        return;
    region->file = jd_source_file_absolute(file);
    if (region->file == NULL)
        region->file = strdup(file);
}

/* Adds it to what is known of its method. NULL: it is no code, or out of memory. */
static struct itt_method *keep(const struct reported *reported, const void *copy,
                               const struct itt_region **kept)
{
    struct sender *const sender = sender_of(copy);
    struct itt_region region = {.address = (uintptr_t)reported->address, .size = reported->size};
    if (reported->address == NULL || reported->size == 0 || reported->id == 0 || sender == NULL)
        return NULL;
    struct itt_method *const method = jd_itt_methods_get(&methods, copy, reported->id);
    if (method == NULL)
        return NULL;
    region.name = full_name(reported, method);
    if (region.name == NULL)
        return NULL;
    set_lines(&region, reported, sender);
    set_file(&region, reported, method);
    *kept = jd_itt_method_add(method, region);
    return *kept != NULL ? method : NULL;
}

static void notify_load(const struct reported *reported, const void *copy)
{
    const struct itt_region *region;
    const struct itt_method *const method = keep(reported, copy, &region);
    if (method != NULL)
        load(method, region);
}

/* The code that it is inlined in is loaded once more, with what is known now: it does not run before
 * all its inlined calls are reported. */
static void notify_inline_load(const struct itt_inline_load *event, const void *copy)
{
    const struct reported reported = reported_inline(event);
    const struct itt_region *region;
    struct itt_method *method = keep(&reported, copy, &region);
    struct itt_method *const parent =
        method != NULL && event->parent_id != 0
            ? jd_itt_methods_get(&methods, copy, event->parent_id)
            : NULL;
    if (parent == NULL || !jd_itt_method_inline(method, parent))
        return;
    while (method->parent != NULL)
        method = method->parent;
    load_again(method);
}

/* The lines of what is new are not known. */
static bool forget_lines(struct itt_region *region, uint32_t from, uint32_t to)
{
    struct itt_line *const lines =
        realloc(region->lines, ((size_t)region->line_count + 2) * sizeof(*lines));
    if (lines == NULL)
        return false;
    region->lines = lines;
    region->line_count = jd_itt_lines_forget(lines, region->line_count, from, to);
    return true;
}

/* Some of the method's code is new. */
static void notify_update(const struct itt_load *event, const void *copy)
{
    const struct itt_method *const method = jd_itt_methods_find(&methods, copy, event->id);
    const uint64_t address = (uintptr_t)event->address;
    for (uint32_t i = 0; method != NULL && i < method->region_count; i++) {
        struct itt_region *const region = &method->regions[i];
        const uint64_t from = address > region->address ? address - region->address : 0;
        const uint64_t end = address + event->size > region->address
                                 ? address + event->size - region->address
                                 : 0;
        const uint64_t to = end < region->size ? end : region->size;
        if (from < to && forget_lines(region, (uint32_t)from, (uint32_t)to))
            load(method, region);
    }
}

static void notify_unload(const void *data, const void *copy)
{
    uint32_t id;
    memcpy(&id, data, sizeof(id)); /* LLVM hands over no more than this */
    struct itt_method *const method = jd_itt_methods_find(&methods, copy, id);
    if (method != NULL)
        jd_itt_methods_forget(&methods, method);
}

static void notify(unsigned int event, const void *data, const void *copy)
{
    struct reported reported;
    switch (event) {
    case ITT_LOAD:
    case ITT_LOAD_V2:
    case ITT_LOAD_V3:
        reported = reported_load(event, data);
        notify_load(&reported, copy);
        break;
    case ITT_INLINE_LOAD:
        notify_inline_load(data, copy);
        break;
    case ITT_UPDATE:
        notify_update(data, copy);
        break;
    case ITT_UNLOAD:
        notify_unload(data, copy);
        break;
    default:
        break;
    }
}

/* Short: the client's threads may all be here at once, and those that come late lose their events. */
unsigned int Initialize(void)
{
    /* Before the first event: what is registered while another thread is in fork() does not run in that
     * child. */
    pthread_once(&registered, register_child);
    return jd_collector_allowed();
}

unsigned int NotifyEvent(unsigned int event, void *data)
{
    const void *const copy = jd_caller_object(__builtin_return_address(0));
    const struct process_shield shield = jd_process_shield();
    if (!jd_collector_allowed()) {
        jd_process_unshield(shield);
        return 1;
    }
    if (event == ITT_SHUTDOWN) {
        jd_collector_flush(); /* of one engine; others may go on */
    } else if (data != NULL) {
        pthread_once(&registered, register_child);
        take();
        notify(event, data, copy);
        leave();
    }
    jd_process_unshield(shield);
    return 1;
}
