/*
 * The emitter, whole: all that a JIT links. Compiling this file alone is all there is to
 * building it.
 *
 * Its rooms, from the lowest: format, platform, system and buffer and encode, emitter. None knows
 * one above itself: tests/packaging/dependencies.py draws them, and fails if one does.
 */
#include "emitter/error.c"
#include "encode/struct_size.c"

#if JD_HAS_DUMPS

#include "buffer/append_buffer.c"
#include "buffer/background.c"
#include "buffer/clock.c"

#include "format/call_frame.c"
#include "format/cursor.c"
#include "format/eh_frame.c"

#include "encode/cfi.c"
#include "encode/debug_info.c"
#include "encode/eh_frame.c"
#include "encode/frame_copy.c"
#include "encode/function_records.c"
#include "encode/inline_2023.c"
#include "encode/inline_2026.c"
#include "encode/record.c"
#include "encode/samply.c"
#include "encode/sources.c"
#include "encode/string_list.c"
#include "encode/tiers.c"
#include "encode/track.c"

#include "system/announce.c"
#include "system/dump_file.c"
#include "system/host_process.c"
#include "system/new_file.c"
#include "system/perf_map.c"
#include "system/process_file.c"
#include "system/shield.c"
#include "system/thread_id.c"
#include "system/write_all.c"

#include "emitter/append.c"
#include "emitter/embed.c"
#include "emitter/environment.c"
#include "emitter/lifetime.c"
#include "emitter/load.c"
#include "emitter/load_many.c"
#include "emitter/report.c"
#include "emitter/rooms.c"
#include "emitter/source_records.c"
#include "emitter/start.c"
#include "emitter/unwind.c"

#else

#include "emitter/unsupported.c"

#endif
