// The library's structs and functions, as jitdump.h declares them.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import koffi from 'koffi';

// That of the package, if it has one for this machine, or the installed one.
const bundled = fileURLToPath(
  new URL(`${process.platform}-${process.arch}/libjitdump.so`, import.meta.url));
const library = koffi.load(existsSync(bundled) ? bundled : 'libjitdump.so.0.2');

koffi.opaque('jitdump');

const structs = {};

function struct(name, fields) {
  structs[name] = koffi.struct(name, fields);
}

struct('jitdump_options', {
  struct_size: 'uint32_t',
  flags: 'uint32_t',
  clock: 'uint32_t',
  flush_mode: 'uint32_t',
  elf_mach: 'uint32_t',
  dialect: 'uint32_t',
  flush_bytes: 'uint64_t',
  flush_interval_ns: 'uint64_t',
  size_limit: 'uint64_t',
  directory: 'const char *',
  error_message: 'void *',
  error_message_size: 'uint64_t',
  track: 'const char *',
  descriptor: 'uint64_t',
});

struct('jitdump_line', {
  code_addr: 'uint64_t',
  line: 'uint32_t',
  column: 'uint32_t',
  file: 'const char *',
});

struct('jitdump_unwind_step', {
  code_offset: 'uint64_t',
  op: 'uint32_t',
  reg: 'uint32_t',
  offset: 'int64_t',
});

struct('jitdump_unwind', {
  struct_size: 'uint32_t',
  frame: 'uint32_t',
  steps: 'const jitdump_unwind_step *',
  step_count: 'uint64_t',
});

struct('jitdump_function', {
  name: 'const char *',
  file: 'const char *',
  start_line: 'uint32_t',
  start_column: 'uint32_t',
  flags: 'uint32_t',
  name_size: 'uint32_t',
  file_size: 'uint32_t',
  reserved: 'uint32_t',
});

struct('jitdump_position', {
  function: 'uint32_t',
  line: 'uint32_t',
  column: 'uint32_t',
  caller: 'uint32_t',
});

struct('jitdump_offset', {
  code_offset: 'uint32_t',
  position: 'uint32_t',
});

struct('jitdump_track', {
  struct_size: 'uint32_t',
  reserved: 'uint32_t',
  name: 'const char *',
  functions: 'const jitdump_function *',
  function_count: 'uint64_t',
  positions: 'const jitdump_position *',
  position_count: 'uint64_t',
  offsets: 'const jitdump_offset *',
  offset_count: 'uint64_t',
});

struct('jitdump_line_row', {
  code_offset: 'uint32_t',
  file: 'uint32_t',
  line: 'uint32_t',
  column: 'uint32_t',
});

struct('jitdump_string', {
  bytes: 'const char *',
  size: 'uint64_t',
});

struct('jitdump_code', {
  struct_size: 'uint32_t',
  tier: 'uint32_t',
  name: 'const char *',
  code_addr: 'uint64_t',
  code_size: 'uint64_t',
  code_bytes: 'const void *',
  lines: 'const jitdump_line *',
  line_count: 'uint64_t',
  eh_frame: 'const void *',
  eh_frame_size: 'uint64_t',
  eh_frame_hdr: 'const void *',
  eh_frame_hdr_size: 'uint64_t',
  unwind: 'const jitdump_unwind *',
  tracks: 'const jitdump_track *',
  track_count: 'uint64_t',
  eh_frame_addr: 'uint64_t',
  name_size: 'uint64_t',
  line_rows: 'const jitdump_line_row *',
  line_row_count: 'uint64_t',
  files: 'const jitdump_string *',
  file_count: 'uint64_t',
});

const functions = {};
for (const prototype of [
  'void jitdump_options_init(_Out_ jitdump_options *options, uint32_t struct_size)',
  'int jitdump_open(_Out_ jitdump **dump, const jitdump_options *options)',
  'int jitdump_open_from_environment(_Out_ jitdump **dump, const jitdump_options *defaults)',
  'int jitdump_close(jitdump *dump)',
  'void jitdump_after_fork()',
  'const char *jitdump_path(const jitdump *dump)',
  'int jitdump_load(jitdump *dump, const jitdump_code *code, _Out_ uint64_t *code_index)',
  'int jitdump_load_many(jitdump *dump, const jitdump_code *codes, uint64_t count,'
    + ' _Out_ uint64_t *code_indices)',
  'int jitdump_unwind_size(const jitdump *dump, const jitdump_code *code, _Out_ uint64_t *size)',
  'int jitdump_unwind_eh_frame(uint32_t elf_mach, const jitdump_code *code, _Out_ void *eh_frame,'
    + ' uint64_t capacity, _Out_ uint64_t *eh_frame_size)',
  'int jitdump_move(jitdump *dump, uint64_t code_index, uint64_t old_code_addr,'
    + ' uint64_t new_code_addr, uint64_t code_size)',
  'int jitdump_add_tier(jitdump *dump, const char *name, uint32_t color_index,'
    + ' const char *name_prefix, _Out_ uint32_t *tier)',
  'int jitdump_embed_source(jitdump *dump, const char *path, const void *source,'
    + ' uint64_t source_size)',
  'int jitdump_append_raw(jitdump *dump, uint32_t id, const void *payload, uint64_t payload_size)',
  'int jitdump_flush(jitdump *dump)',
  'int jitdump_flush_from_signal(jitdump *dump)',
  'const char *jitdump_strerror(int error)',
  'uint32_t jitdump_version(void)',
]) {
  const found = library.func(prototype);
  functions[found.info.name] = found;
}

export { functions, structs };
