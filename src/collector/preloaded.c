#include "platform/c_library.h"

#include "preloaded.h"

#include "system/shield.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* By whatever path the variable names the file. */
bool jd_collector_is_preloaded(void)
{
    static const char mine;
    Dl_info here;
    const char *const preloaded = jd_process_getenv("LD_PRELOAD");
    if (preloaded == NULL || dladdr(&mine, &here) == 0)
        return false;
    const char *const slash = strrchr(here.dli_fname, '/');
    return strstr(preloaded, slash != NULL ? slash + 1 : here.dli_fname) != NULL;
}
