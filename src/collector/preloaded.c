/*
 * What happens when the loader has loaded this: nothing, unless it was preloaded.
 */
#include "platform/c_library.h"

#include "gdb_jit.h"
#include "process_dump.h"
#include "system/shield.h"

#include <dlfcn.h>
#include <string.h>

/* Whether $LD_PRELOAD names this file, by whatever path. */
static bool is_preloaded(void)
{
    static const char mine;
    Dl_info here;
    const char *const preloaded = jd_process_getenv("LD_PRELOAD");
    if (preloaded == NULL || dladdr(&mine, &here) == 0)
        return false;
    const char *const slash = strrchr(here.dli_fname, '/');
    return strstr(preloaded, slash != NULL ? slash + 1 : here.dli_fname) != NULL;
}

__attribute__((constructor)) static void begin(void)
{
    if (jd_collector_allowed() && is_preloaded())
        jd_gdb_jit_watch();
}
