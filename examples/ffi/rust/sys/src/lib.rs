//! What `jitdump.h` declares: constants, structs and functions, and nothing more. Their meaning
//! is explained there. tests/bindings/ffi compares all of it with the header.

#![allow(non_camel_case_types)]

#[doc(hidden)]
pub mod layout;

use std::os::raw::{c_char, c_int, c_void};

/// `struct jitdump`, an open dump.
#[repr(C)]
pub struct Handle {
    opaque: [u8; 0],
}

// The three macros declare, and note down for `layout` what they have declared.

macro_rules! constants {
    ($($name:ident: $type:ty = $value:expr,)*) => {
        $(pub const $name: $type = $value;)*

        pub(crate) fn constants() -> Vec<(&'static str, i64)> {
            vec![$((stringify!($name), $name as i64)),*]
        }
    };
}

macro_rules! structs {
    ($($name:ident { $($field:ident: $type:ty,)* })*) => {
        $(#[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name {
            $(pub $field: $type,)*
        })*

        pub(crate) fn structs() -> Vec<crate::layout::Struct> {
            vec![$({
                let value = std::mem::MaybeUninit::<$name>::uninit();
                let start = value.as_ptr();
                crate::layout::Struct {
                    name: stringify!($name),
                    size: std::mem::size_of::<$name>(),
                    fields: vec![$((
                        stringify!($field),
                        // Only the address is taken; nothing is read.
                        unsafe { std::ptr::addr_of!((*start).$field) as usize } - start as usize,
                        std::mem::size_of::<$type>(),
                    )),*],
                }
            }),*]
        }
    };
}

macro_rules! functions {
    ($(fn $name:ident($($parameter:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        extern "C" {
            $(pub fn $name($($parameter: $type),*) -> $result;)*
        }

        pub(crate) fn functions() -> Vec<(&'static str, Vec<usize>)> {
            vec![$((
                stringify!($name),
                vec![std::mem::size_of::<$result>(), $(std::mem::size_of::<$type>()),*],
            )),*]
        }
    };
}

constants! {
    JITDUMP_ERROR_ARGUMENT: c_int = -1,
    JITDUMP_ERROR_STRUCT_SIZE: c_int = -2,
    JITDUMP_ERROR_OPTION: c_int = -3,
    JITDUMP_ERROR_NO_MEMORY: c_int = -4,
    JITDUMP_ERROR_CLOCK_UNSUPPORTED: c_int = -5,
    JITDUMP_ERROR_CLOCK_NO_CONVERSION: c_int = -6,
    JITDUMP_ERROR_CLOCK_NOT_PERMITTED: c_int = -7,
    JITDUMP_ERROR_DIRECTORY_MISSING: c_int = -8,
    JITDUMP_ERROR_DIRECTORY_NOT_WRITABLE: c_int = -9,
    JITDUMP_ERROR_DIRECTORY_NOEXEC: c_int = -10,
    JITDUMP_ERROR_FILE_FOREIGN: c_int = -11,
    JITDUMP_ERROR_FILE_IN_USE: c_int = -12,
    JITDUMP_ERROR_TOO_MANY_FILES: c_int = -13,
    JITDUMP_ERROR_DISK_FULL: c_int = -14,
    JITDUMP_ERROR_FILE_TOO_LARGE: c_int = -15,
    JITDUMP_ERROR_IO: c_int = -16,
    JITDUMP_ERROR_SIZE_LIMIT: c_int = -17,
    JITDUMP_ERROR_BUSY: c_int = -18,
    JITDUMP_ERROR_NAME_MISSING: c_int = -19,
    JITDUMP_ERROR_CODE_MISSING: c_int = -20,
    JITDUMP_ERROR_CODE_SIZE: c_int = -21,
    JITDUMP_ERROR_CODE_ADDR: c_int = -22,
    JITDUMP_ERROR_CODE_INDEX: c_int = -23,
    JITDUMP_ERROR_RECORD_SIZE: c_int = -24,
    JITDUMP_ERROR_RECORD_EMPTY: c_int = -25,
    JITDUMP_ERROR_RECORD_ID: c_int = -26,
    JITDUMP_ERROR_LINES_MISSING: c_int = -27,
    JITDUMP_ERROR_LINES_ORDER: c_int = -28,
    JITDUMP_ERROR_LINES_RANGE: c_int = -29,
    JITDUMP_ERROR_LINE_NUMBER: c_int = -30,
    JITDUMP_ERROR_LINE_FILE: c_int = -31,
    JITDUMP_ERROR_UNWIND_EMPTY: c_int = -32,
    JITDUMP_ERROR_UNWIND_SIZE: c_int = -33,
    JITDUMP_ERROR_UNWIND_HEADER_SIZE: c_int = -34,
    JITDUMP_ERROR_THREAD: c_int = -35,
    JITDUMP_ERROR_UNWIND_TWICE: c_int = -36,
    JITDUMP_ERROR_UNWIND_MACHINE: c_int = -37,
    JITDUMP_ERROR_UNWIND_FRAME: c_int = -38,
    JITDUMP_ERROR_UNWIND_STEPS_MISSING: c_int = -39,
    JITDUMP_ERROR_UNWIND_STEP_ORDER: c_int = -40,
    JITDUMP_ERROR_UNWIND_STEP_RANGE: c_int = -41,
    JITDUMP_ERROR_UNWIND_STEP_OP: c_int = -42,
    JITDUMP_ERROR_UNWIND_STEP_REGISTER: c_int = -43,
    JITDUMP_ERROR_UNWIND_STEP_OFFSET: c_int = -44,
    JITDUMP_ERROR_UNWIND_STEP_STATE: c_int = -45,
    JITDUMP_ERROR_UNWIND_CAPACITY: c_int = -46,
    JITDUMP_ERROR_LINES_AND_TRACKS: c_int = -47,
    JITDUMP_ERROR_TRACK_MISSING: c_int = -48,
    JITDUMP_ERROR_TRACK_EMPTY: c_int = -49,
    JITDUMP_ERROR_TRACK_COUNT: c_int = -50,
    JITDUMP_ERROR_OFFSETS_ORDER: c_int = -51,
    JITDUMP_ERROR_OFFSETS_RANGE: c_int = -52,
    JITDUMP_ERROR_POSITION_INDEX: c_int = -53,
    JITDUMP_ERROR_POSITION_FUNCTION: c_int = -54,
    JITDUMP_ERROR_POSITION_CALLER: c_int = -55,
    JITDUMP_ERROR_POSITION_DEPTH: c_int = -56,
    JITDUMP_ERROR_POSITION_OUTERMOST: c_int = -57,
    JITDUMP_ERROR_FUNCTION_NAME: c_int = -58,
    JITDUMP_ERROR_TIER: c_int = -59,
    JITDUMP_ERROR_TIER_NAME: c_int = -60,
    JITDUMP_ERROR_TIER_COLOR: c_int = -61,
    JITDUMP_ERROR_TIER_LIMIT: c_int = -62,
    JITDUMP_ERROR_TIER_DIALECT: c_int = -63,
    JITDUMP_ERROR_SOURCE_PATH: c_int = -64,
    JITDUMP_ERROR_SOURCE_MISSING: c_int = -65,
    JITDUMP_ERROR_SOURCE_TWICE: c_int = -66,
    JITDUMP_ERROR_SOURCE_FILE: c_int = -67,
    JITDUMP_ERROR_PERF_MAP: c_int = -68,
    JITDUMP_ERROR_RESERVED: c_int = -69,
    JITDUMP_ERROR_ENVIRONMENT: c_int = -70,
    JITDUMP_ERROR_UNWIND_SECTION: c_int = -71,
    JITDUMP_ERROR_UNWIND_MISSING: c_int = -72,
    JITDUMP_ERROR_DESCRIPTOR: c_int = -73,
    JITDUMP_ERROR_UNSUPPORTED: c_int = -74,
    JITDUMP_CLOCK_MONOTONIC: u32 = 0,
    JITDUMP_CLOCK_TSC: u32 = 1,
    JITDUMP_FLUSH_WRITE_THROUGH: u32 = 0,
    JITDUMP_FLUSH_BUFFERED: u32 = 1,
    JITDUMP_FLUSH_BACKGROUND: u32 = 2,
    JITDUMP_UNLINK_AT_CLOSE: u32 = 1,
    JITDUMP_FORCE_TSC: u32 = 2,
    JITDUMP_OUTERMOST_LINES: u32 = 4,
    JITDUMP_SOURCE_FILES: u32 = 8,
    JITDUMP_PERF_MAP: u32 = 16,
    JITDUMP_EMPTY_AT_CLOSE: u32 = 32,
    JITDUMP_TIER_RECORDS: u32 = 64,
    JITDUMP_DEBUG: u32 = 128,
    JITDUMP_SHARED: u32 = 256,
    JITDUMP_NO_ATFORK: u32 = 512,
    JITDUMP_NO_EXIT_FLUSH: u32 = 1024,
    JITDUMP_NO_SIGNAL_MASK: u32 = 2048,
    JITDUMP_STRICT: u32 = 4096,
    JITDUMP_DIALECT_PERF: u32 = 0,
    JITDUMP_DIALECT_SAMPLY_2023: u32 = 1,
    JITDUMP_DIALECT_SAMPLY_2026: u32 = 2,
    JITDUMP_UNWIND_DEF_CFA: u32 = 1,
    JITDUMP_UNWIND_OFFSET: u32 = 2,
    JITDUMP_UNWIND_RESTORE: u32 = 3,
    JITDUMP_UNWIND_REMEMBER_STATE: u32 = 4,
    JITDUMP_UNWIND_RESTORE_STATE: u32 = 5,
    JITDUMP_UNWIND_FRAME_NONE: u32 = 6,
    JITDUMP_UNWIND_FRAME_ALLOCATED: u32 = 7,
    JITDUMP_UNWIND_FRAME_SET: u32 = 8,
    JITDUMP_X86_64_RAX: u32 = 0,
    JITDUMP_X86_64_RDX: u32 = 1,
    JITDUMP_X86_64_RCX: u32 = 2,
    JITDUMP_X86_64_RBX: u32 = 3,
    JITDUMP_X86_64_RSI: u32 = 4,
    JITDUMP_X86_64_RDI: u32 = 5,
    JITDUMP_X86_64_RBP: u32 = 6,
    JITDUMP_X86_64_RSP: u32 = 7,
    JITDUMP_X86_64_R8: u32 = 8,
    JITDUMP_X86_64_R12: u32 = 12,
    JITDUMP_X86_64_R13: u32 = 13,
    JITDUMP_X86_64_R14: u32 = 14,
    JITDUMP_X86_64_R15: u32 = 15,
    JITDUMP_X86_64_RA: u32 = 16,
    JITDUMP_AARCH64_X0: u32 = 0,
    JITDUMP_AARCH64_X19: u32 = 19,
    JITDUMP_AARCH64_X20: u32 = 20,
    JITDUMP_AARCH64_X29: u32 = 29,
    JITDUMP_AARCH64_X30: u32 = 30,
    JITDUMP_AARCH64_SP: u32 = 31,
    JITDUMP_AARCH64_V0: u32 = 64,
    JITDUMP_AARCH64_V8: u32 = 72,
    JITDUMP_RISCV64_RA: u32 = 1,
    JITDUMP_RISCV64_SP: u32 = 2,
    JITDUMP_RISCV64_S0: u32 = 8,
    JITDUMP_RISCV64_S1: u32 = 9,
    JITDUMP_RISCV64_S2: u32 = 18,
    JITDUMP_RISCV64_F0: u32 = 32,
    JITDUMP_RISCV64_FS0: u32 = 40,
    JITDUMP_FRAME_STEPS: u32 = 0,
    JITDUMP_FRAME_POINTER: u32 = 1,
    JITDUMP_COLOR_TRANSPARENT: u32 = 0,
    JITDUMP_COLOR_LIGHT_BLUE: u32 = 1,
    JITDUMP_COLOR_RED: u32 = 2,
    JITDUMP_COLOR_LIGHT_RED: u32 = 3,
    JITDUMP_COLOR_ORANGE: u32 = 4,
    JITDUMP_COLOR_BLUE: u32 = 5,
    JITDUMP_COLOR_GREEN: u32 = 6,
    JITDUMP_COLOR_PURPLE: u32 = 7,
    JITDUMP_COLOR_YELLOW: u32 = 8,
    JITDUMP_COLOR_BROWN: u32 = 9,
    JITDUMP_COLOR_MAGENTA: u32 = 10,
    JITDUMP_COLOR_LIGHT_GREEN: u32 = 11,
    JITDUMP_COLOR_GRAY: u32 = 12,
    JITDUMP_COLOR_DARK_GRAY: u32 = 13,
    JITDUMP_CODE_SIZE_MAX: u64 = 0x7fff_ffff,
    JITDUMP_NONE: u32 = u32::MAX,
    JITDUMP_INLINE_DEPTH_MAX: u32 = 1023,
    JITDUMP_TRACK_COUNT_MAX: u64 = 0x7fff_ffff,
    JITDUMP_TIERS_MAX: u32 = 64,
}

structs! {
    jitdump_options {
        struct_size: u32,
        flags: u32,
        clock: u32,
        flush_mode: u32,
        elf_mach: u32,
        dialect: u32,
        flush_bytes: u64,
        flush_interval_ns: u64,
        size_limit: u64,
        directory: *const c_char,
        error_message: *mut c_char,
        error_message_size: u64,
        track: *const c_char,
        descriptor: u64,
    }

    jitdump_line {
        code_addr: u64,
        line: u32,
        column: u32,
        file: *const c_char,
    }

    jitdump_unwind_step {
        code_offset: u64,
        op: u32,
        reg: u32,
        offset: i64,
    }

    jitdump_unwind {
        struct_size: u32,
        frame: u32,
        steps: *const jitdump_unwind_step,
        step_count: u64,
    }

    jitdump_function {
        name: *const c_char,
        file: *const c_char,
        start_line: u32,
        start_column: u32,
        flags: u32,
        name_size: u32,
        file_size: u32,
        reserved: u32,
    }

    jitdump_position {
        function: u32,
        line: u32,
        column: u32,
        caller: u32,
    }

    jitdump_offset {
        code_offset: u32,
        position: u32,
    }

    jitdump_track {
        struct_size: u32,
        reserved: u32,
        name: *const c_char,
        functions: *const jitdump_function,
        function_count: u64,
        positions: *const jitdump_position,
        position_count: u64,
        offsets: *const jitdump_offset,
        offset_count: u64,
    }

    jitdump_line_row {
        code_offset: u32,
        file: u32,
        line: u32,
        column: u32,
    }

    jitdump_string {
        bytes: *const c_char,
        size: u64,
    }

    jitdump_code {
        struct_size: u32,
        tier: u32,
        name: *const c_char,
        code_addr: u64,
        code_size: u64,
        code_bytes: *const c_void,
        lines: *const jitdump_line,
        line_count: u64,
        eh_frame: *const c_void,
        eh_frame_size: u64,
        eh_frame_hdr: *const c_void,
        eh_frame_hdr_size: u64,
        unwind: *const jitdump_unwind,
        tracks: *const jitdump_track,
        track_count: u64,
        eh_frame_addr: u64,
        name_size: u64,
        line_rows: *const jitdump_line_row,
        line_row_count: u64,
        files: *const jitdump_string,
        file_count: u64,
    }
}

functions! {
    fn jitdump_options_init(options: *mut jitdump_options, struct_size: u32) -> ();
    fn jitdump_open(dump: *mut *mut Handle, options: *const jitdump_options) -> c_int;
    fn jitdump_open_from_environment(
        dump: *mut *mut Handle,
        defaults: *const jitdump_options,
    ) -> c_int;
    fn jitdump_close(dump: *mut Handle) -> c_int;
    fn jitdump_after_fork() -> ();
    fn jitdump_path(dump: *const Handle) -> *const c_char;
    fn jitdump_load(dump: *mut Handle, code: *const jitdump_code, code_index: *mut u64) -> c_int;
    fn jitdump_load_many(
        dump: *mut Handle,
        codes: *const jitdump_code,
        count: u64,
        code_indices: *mut u64,
    ) -> c_int;
    fn jitdump_unwind_size(
        dump: *const Handle,
        code: *const jitdump_code,
        size: *mut u64,
    ) -> c_int;
    fn jitdump_unwind_eh_frame(
        elf_mach: u32,
        code: *const jitdump_code,
        eh_frame: *mut c_void,
        capacity: u64,
        eh_frame_size: *mut u64,
    ) -> c_int;
    fn jitdump_move(
        dump: *mut Handle,
        code_index: u64,
        old_code_addr: u64,
        new_code_addr: u64,
        code_size: u64,
    ) -> c_int;
    fn jitdump_add_tier(
        dump: *mut Handle,
        name: *const c_char,
        color_index: u32,
        name_prefix: *const c_char,
        tier: *mut u32,
    ) -> c_int;
    fn jitdump_embed_source(
        dump: *mut Handle,
        path: *const c_char,
        source: *const c_void,
        source_size: u64,
    ) -> c_int;
    fn jitdump_append_raw(
        dump: *mut Handle,
        id: u32,
        payload: *const c_void,
        payload_size: u64,
    ) -> c_int;
    fn jitdump_flush(dump: *mut Handle) -> c_int;
    fn jitdump_flush_from_signal(dump: *mut Handle) -> c_int;
    fn jitdump_strerror(error: c_int) -> *const c_char;
    fn jitdump_version() -> u32;
}
