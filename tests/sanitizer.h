/*
 * Whether the address or the thread sanitizer watches, in whose runtimes some of what the tests do is
 * not possible.
 */
#ifndef JITDUMP_TESTS_SANITIZER_H
#define JITDUMP_TESTS_SANITIZER_H

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
