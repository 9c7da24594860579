#include "platform/c_library.h"

#include "itt_methods.h"

#include <stdlib.h>
#include <string.h>

/* Of one method. A sender that gives all methods one id must not cost time without a bound. */
#define REGIONS_MAX 64

static size_t place_of(const struct itt_methods *methods, const void *copy, uint32_t id)
{
    const uint64_t mixed = ((uintptr_t)copy ^ id) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32) & (methods->place_count - 1);
}

struct itt_method *jd_itt_methods_find(const struct itt_methods *methods, const void *copy, uint32_t id)
{
    if (methods->place_count == 0)
        return NULL;
    struct itt_method *method = methods->places[place_of(methods, copy, id)];
    while (method != NULL && (method->id != id || method->copy != copy))
        method = method->next;
    return method;
}

static bool grow(struct itt_methods *methods)
{
    struct itt_methods larger = {.place_count = methods->place_count != 0 ? 2 * methods->place_count : 256,
                                 .count = methods->count};
    larger.places = calloc(larger.place_count, sizeof(struct itt_method *));
    if (larger.places == NULL)
        return false;
    for (size_t i = 0; i < methods->place_count; i++) {
        for (struct itt_method *method = methods->places[i], *next; method != NULL; method = next) {
            struct itt_method **const place =
                &larger.places[place_of(&larger, method->copy, method->id)];
            next = method->next;
            method->next = *place;
            *place = method;
        }
    }
    free(methods->places);
    *methods = larger;
    return true;
}

struct itt_method *jd_itt_methods_get(struct itt_methods *methods, const void *copy, uint32_t id)
{
    struct itt_method *method = jd_itt_methods_find(methods, copy, id);
    if (method != NULL)
        return method;
    /* Fuller places are slower, but do. */
    if (methods->count >= methods->place_count && !grow(methods) && methods->place_count == 0)
        return NULL;
    method = calloc(1, sizeof(*method));
    if (method == NULL)
        return NULL;
    struct itt_method **const place = &methods->places[place_of(methods, copy, id)];
    *method = (struct itt_method){.copy = copy, .id = id, .next = *place};
    *place = method;
    methods->count++;
    return method;
}

void jd_itt_region_free(struct itt_region *region)
{
    free(region->lines);
    free(region->name);
    free(region->file);
}

static void leave_parent(struct itt_method *child)
{
    if (child->parent == NULL)
        return;
    struct itt_method **at = &child->parent->first_child;
    while (*at != child)
        at = &(*at)->next_sibling;
    *at = child->next_sibling;
    child->parent = NULL;
    child->next_sibling = NULL;
}

static void remove_one(struct itt_methods *methods, struct itt_method *method)
{
    struct itt_method **at = &methods->places[place_of(methods, method->copy, method->id)];
    while (*at != method)
        at = &(*at)->next;
    *at = method->next;
    methods->count--;
    leave_parent(method);
    for (uint32_t i = 0; i < method->region_count; i++)
        jd_itt_region_free(&method->regions[i]);
    free(method->regions);
    free(method);
}

void jd_itt_methods_forget(struct itt_methods *methods, struct itt_method *method)
{
    /* The deepest first, without recursion: the depth is the sender's. */
    for (struct itt_method *at = method;;) {
        while (at->first_child != NULL)
            at = at->first_child;
        struct itt_method *const parent = at->parent;
        const bool last = at == method;
        remove_one(methods, at);
        if (last)
            return;
        at = parent;
    }
}

bool jd_itt_method_inline(struct itt_method *child, struct itt_method *parent)
{
    for (const struct itt_method *above = parent; above != NULL; above = above->parent)
        if (above == child)
            return false;
    leave_parent(child);
    child->parent = parent;
    child->next_sibling = parent->first_child;
    parent->first_child = child;
    return true;
}

const struct itt_region *jd_itt_method_add(struct itt_method *method, struct itt_region region)
{
    uint32_t at = 0;
    while (at < method->region_count && method->regions[at].address != region.address)
        at++;
    if (at == REGIONS_MAX)
        at = 1 + method->replaced++ % (REGIONS_MAX - 1); /* the first has the name */
    if (at < method->region_count) {
        jd_itt_region_free(&method->regions[at]);
    } else {
        struct itt_region *const regions =
            realloc(method->regions, ((size_t)at + 1) * sizeof(*regions));
        if (regions == NULL) {
            jd_itt_region_free(&region);
            return NULL;
        }
        method->regions = regions;
        method->region_count++;
    }
    method->regions[at] = region;
    return &method->regions[at];
}
