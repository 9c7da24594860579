/*
 * Who calls? Of what several libraries have a copy of their own, the address of the call tells which.
 */
#ifndef JITDUMP_COLLECTOR_CALLER_H
#define JITDUMP_COLLECTOR_CALLER_H

/* The same for all of a program's or shared object's code, another for each; NULL: it is none's. */
const void *jd_caller_object(const void *code);

#endif
