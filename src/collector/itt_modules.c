#include "platform/c_library.h"

#include "itt_modules.h"

#include "memory.h"
#include "pending_code.h"
#include "process_dump.h"
#include "system/shield.h"

#include <pthread.h>
#include <string.h>

/* As ittnotify.h and ittnotify_config.h of https://github.com/intel/ittapi lay them out, as far as they are
 * read. */
struct itt_api {
    const char *name;
    void **function;
    void *first; /* what it is before the client looks for a library */
    void *none;  /* what it is to be if the library has none; may be NULL */
    int group;
};

struct itt_global {
    unsigned char magic[8];
    unsigned long version[3];
    long states[3];
    pthread_mutex_t mutex;
    void *library;
    void *error_handler;
    const char **library_path;
    struct itt_api *functions; /* up to one without a name */
};

struct itt_section {
    const char *name;
    int type;
    size_t flags;
    void *start;
    size_t size;
    size_t file_offset;
};

enum { ITT_MODULE_ELF = 1 };

struct itt_module {
    unsigned int version;
    unsigned long long id[3];
    int type;
    const char *name;
    const void *buffer; /* NULL: `name` is a file's path */
    size_t size;
    const struct itt_section *sections;
    size_t section_count;
};

static bool is_section(const struct elf_object *object, const struct elf_section *section,
                       const struct itt_section *told)
{
    return strcmp(section->name, told->name) == 0 &&
           (section->data.size == 0 ||
            (size_t)(section->data.data - object->bytes.data) == told->file_offset);
}

static void place_sections(struct elf_object *object, const void *context)
{
    const struct itt_module *const module = context;
    for (size_t i = 0; i < module->section_count; i++) {
        const struct itt_section *const told = &module->sections[i];
        for (uint32_t j = 0; told->name != NULL && j < object->section_count; j++)
            if (is_section(object, &object->sections[j], told))
                object->sections[j].address = (uintptr_t)told->start;
    }
}

static void module_loaded(const struct itt_module *module)
{
    if (module == NULL || module->buffer == NULL || module->type != ITT_MODULE_ELF)
        return;
    const struct process_shield shield = jd_process_shield();
    void *const bytes = jd_memory_copy((uintptr_t)module->buffer, module->size);
    struct object_code *const code =
        bytes != NULL
            ? jd_object_code_read(bytes, module->size, LOADED_BY_ITT_MODULE, place_sections, module)
            : NULL;
    if (code != NULL)
        jd_pending_code_add(code, module);
    jd_process_unshield(shield);
}

static void module_unloaded(const struct itt_module *module)
{
    const struct process_shield shield = jd_process_shield();
    jd_pending_code_forget(module);
    jd_process_unshield(shield);
}

void __itt_api_init(void *global, unsigned int groups)
{
    struct itt_api *api = ((struct itt_global *)global)->functions;
    const bool allowed = jd_collector_allowed();
    (void)groups;
    for (; api->name != NULL; api++) {
        void (*function)(const struct itt_module *) = NULL;
        if (allowed && strcmp(api->name, "__itt_module_load_with_sections") == 0)
            function = module_loaded;
        else if (allowed && strcmp(api->name, "__itt_module_unload_with_sections") == 0)
            function = module_unloaded;
        if (function != NULL)
            memcpy((void *)api->function, (void *)&function, sizeof(function));
        else
            *api->function = api->none;
    }
}
