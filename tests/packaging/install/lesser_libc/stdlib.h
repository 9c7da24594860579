/* Without secure_getenv(), as Android's. */
#include_next <stdlib.h>

#define secure_getenv this_c_library_has_no_secure_getenv
