/* Without cancellation, as Android's. */
#include_next <pthread.h>

#undef PTHREAD_CANCEL_DISABLE
#undef PTHREAD_CANCEL_ENABLE
#define pthread_setcancelstate this_c_library_has_no_pthread_setcancelstate
