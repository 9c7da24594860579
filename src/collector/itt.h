/*
 * What Intel's client of the JIT API looks for in a collector, named by $INTEL_JIT_PROFILER64 (32).
 */
#ifndef JITDUMP_COLLECTOR_ITT_H
#define JITDUMP_COLLECTOR_ITT_H

/* The first call of each client. What comes back is what iJIT_IsProfilingActive() says: 1 is yes. */
__attribute__((visibility("default"))) unsigned int Initialize(void);

/* An enum itt_event, and its struct. 1: taken, or not known here. */
__attribute__((visibility("default"))) unsigned int NotifyEvent(unsigned int event, void *data);

#endif
