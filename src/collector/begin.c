/*
 * What happens when the loader has loaded the collector: nothing, unless it was preloaded.
 */
#include "platform/c_library.h"

#include "gdb_jit.h"
#include "preloaded.h"
#include "process_dump.h"

__attribute__((constructor)) static void begin(void)
{
    if (jd_collector_is_preloaded() && jd_collector_allowed())
        jd_gdb_jit_watch();
}
