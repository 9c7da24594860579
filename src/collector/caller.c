#include "platform/c_library.h"

#include "caller.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/* Without the lock of the loader, which dladdr() takes, and which a thread may hold that waits for
 * the caller's. */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
const void *jd_caller_object(const void *code)
{
    struct dl_find_object found;
    return _dl_find_object((void *)(uintptr_t)code, &found) == 0 ? found.dlfo_map_start : NULL;
}
#else
const void *jd_caller_object(const void *code)
{
    Dl_info found;
    return dladdr(code, &found) != 0 ? found.dli_fbase : NULL;
}
#endif
