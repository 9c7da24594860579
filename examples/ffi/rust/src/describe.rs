//! What a function is described with. Each type borrows what it points to, and has the layout of
//! C's struct where the library reads an array of it.

use crate::raw;
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::mem::size_of;
use std::ptr;

/// `struct jitdump_string`: a `&str`, `&CStr` or `&[u8]`, of which nothing is copied.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text<'a>(raw::jitdump_string, PhantomData<&'a [u8]>);

impl<'a> From<&'a [u8]> for Text<'a> {
    fn from(bytes: &'a [u8]) -> Text<'a> {
        let string = raw::jitdump_string {
            bytes: pointer(bytes).cast(),
            size: bytes.len() as u64,
        };
        Text(string, PhantomData)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Text<'a> {
        text.as_bytes().into()
    }
}

impl<'a> From<&'a CStr> for Text<'a> {
    fn from(text: &'a CStr) -> Text<'a> {
        text.to_bytes().into()
    }
}

impl<'a> From<&'a CString> for Text<'a> {
    fn from(text: &'a CString) -> Text<'a> {
        text.as_c_str().into()
    }
}

impl<'a> From<&'a String> for Text<'a> {
    fn from(text: &'a String) -> Text<'a> {
        text.as_str().into()
    }
}

/// `struct jitdump_line`: the code from `code_addr` on comes from this line.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Line<'a>(raw::jitdump_line, PhantomData<&'a CStr>);

impl<'a> Line<'a> {
    /// A column of 0 is unknown.
    pub fn new(code_addr: u64, file: &'a CStr, line: u32, column: u32) -> Line<'a> {
        Line(
            raw::jitdump_line {
                code_addr,
                line,
                column,
                file: file.as_ptr(),
            },
            PhantomData,
        )
    }
}

/// `struct jitdump_unwind`: the function's frame. `frame` is a `JITDUMP_FRAME_*`.
#[derive(Clone, Copy)]
pub struct Unwind<'a> {
    pub frame: u32,
    pub steps: &'a [raw::jitdump_unwind_step],
}

/// `struct jitdump_function`: in the sense of the source.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Function<'a>(raw::jitdump_function, PhantomData<&'a CStr>);

impl<'a> Function<'a> {
    /// A line or column of 0 is unknown.
    pub fn new(
        name: &'a CStr,
        file: Option<&'a CStr>,
        start_line: u32,
        start_column: u32,
    ) -> Function<'a> {
        Function(
            raw::jitdump_function {
                name: name.as_ptr(),
                file: file.map_or(ptr::null(), CStr::as_ptr),
                start_line,
                start_column,
                flags: 0,
                name_size: 0,
                file_size: 0,
                reserved: 0,
            },
            PhantomData,
        )
    }

    /// `jitdump_function.flags`, which are handed on.
    pub fn with_flags(mut self, flags: u32) -> Function<'a> {
        self.0.flags = flags;
        self
    }
}

/// `struct jitdump_track`: one view of the code.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Track<'a>(raw::jitdump_track, PhantomData<&'a CStr>);

impl<'a> Track<'a> {
    pub fn new(
        name: Option<&'a CStr>,
        functions: &'a [Function<'a>],
        positions: &'a [raw::jitdump_position],
        offsets: &'a [raw::jitdump_offset],
    ) -> Track<'a> {
        Track(
            raw::jitdump_track {
                struct_size: size_of::<raw::jitdump_track>() as u32,
                reserved: 0,
                name: name.map_or(ptr::null(), CStr::as_ptr),
                functions: pointer(functions).cast(),
                function_count: functions.len() as u64,
                positions: pointer(positions),
                position_count: positions.len() as u64,
                offsets: pointer(offsets),
                offset_count: offsets.len() as u64,
            },
            PhantomData,
        )
    }
}

// Their pointers are those of shared references to what is Sync itself.
unsafe impl Send for Text<'_> {}
unsafe impl Sync for Text<'_> {}
unsafe impl Send for Line<'_> {}
unsafe impl Sync for Line<'_> {}
unsafe impl Send for Function<'_> {}
unsafe impl Sync for Function<'_> {}
unsafe impl Send for Track<'_> {}
unsafe impl Sync for Track<'_> {}

/// `struct jitdump_code`: all about one piece of generated code.
#[derive(Clone, Copy)]
pub struct Code<'a> {
    pub name: Text<'a>,
    /// Where it will be executed.
    pub code_addr: u64,
    /// The code itself: where the writable mapping is, or any other copy.
    pub code: &'a [u8],
    pub lines: &'a [Line<'a>],
    /// What [`crate::Dump::add_tier`] gave.
    pub tier: u32,
    pub unwind: Option<Unwind<'a>>,
    /// In place of lines: where the code comes from, inlining included.
    pub tracks: &'a [Track<'a>],
    /// The section that has the code's unwinding data; or, with a header, data of the caller's own
    /// making.
    pub eh_frame: &'a [u8],
    pub eh_frame_hdr: &'a [u8],
    /// Where `eh_frame` is loaded, if not where it is.
    pub eh_frame_addr: u64,
    /// In place of lines: the same by offset, and by index in `files`.
    pub line_rows: &'a [raw::jitdump_line_row],
    pub files: &'a [Text<'a>],
}

impl<'a> Code<'a> {
    /// Without what need not be there; for that, `Code { lines: &lines, ..Code::new(...) }`.
    pub fn new(name: impl Into<Text<'a>>, code_addr: u64, code: &'a [u8]) -> Code<'a> {
        Code {
            name: name.into(),
            code_addr,
            code,
            lines: &[],
            tier: 0,
            unwind: None,
            tracks: &[],
            eh_frame: &[],
            eh_frame_hdr: &[],
            eh_frame_addr: 0,
            line_rows: &[],
            files: &[],
        }
    }

    pub(crate) fn raw_unwind(&self) -> Option<raw::jitdump_unwind> {
        self.unwind.map(|unwind| raw::jitdump_unwind {
            struct_size: size_of::<raw::jitdump_unwind>() as u32,
            frame: unwind.frame,
            steps: pointer(unwind.steps),
            step_count: unwind.steps.len() as u64,
        })
    }

    /// C's struct, which leads to `unwind` and to what this one borrows.
    pub(crate) fn raw(&self, unwind: &Option<raw::jitdump_unwind>) -> raw::jitdump_code {
        raw::jitdump_code {
            struct_size: size_of::<raw::jitdump_code>() as u32,
            tier: self.tier,
            name: self.name.0.bytes,
            code_addr: self.code_addr,
            code_size: self.code.len() as u64,
            code_bytes: pointer(self.code).cast(),
            lines: pointer(self.lines).cast(),
            line_count: self.lines.len() as u64,
            eh_frame: pointer(self.eh_frame).cast(),
            eh_frame_size: self.eh_frame.len() as u64,
            eh_frame_hdr: pointer(self.eh_frame_hdr).cast(),
            eh_frame_hdr_size: self.eh_frame_hdr.len() as u64,
            unwind: unwind.as_ref().map_or(ptr::null(), |unwind| unwind),
            tracks: pointer(self.tracks).cast(),
            track_count: self.tracks.len() as u64,
            eh_frame_addr: self.eh_frame_addr,
            name_size: self.name.0.size,
            line_rows: pointer(self.line_rows),
            line_row_count: self.line_rows.len() as u64,
            files: pointer(self.files).cast(),
            file_count: self.files.len() as u64,
        }
    }

    /// Calls `f` with C's struct, which lives just so long.
    pub(crate) fn with_raw<T>(&self, f: impl FnOnce(&raw::jitdump_code) -> T) -> T {
        let unwind = self.raw_unwind();
        f(&self.raw(&unwind))
    }
}

/// NULL for an empty slice, whose own pointer dangles.
fn pointer<T>(slice: &[T]) -> *const T {
    if slice.is_empty() {
        ptr::null()
    } else {
        slice.as_ptr()
    }
}
