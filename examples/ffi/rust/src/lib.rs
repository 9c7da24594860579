//! Makes code that is generated at run time visible in perf and samply.
//!
//! ```no_run
//! # use std::ffi::CStr;
//! # let (profiling_wanted, machine_code, name): (bool, &[u8], &CStr) = todo!();
//! use jitdump::{Code, Dump, Options};
//!
//! let dump = if profiling_wanted { Dump::open(&Options::default())? } else { Dump::none() };
//! dump.load(&Code::new(name, machine_code.as_ptr() as u64, machine_code))?;
//! # Ok::<(), jitdump::Error>(())
//! ```
//!
//! A thin layer on libjitdump, whose header `jitdump.h` is the manual. Strings are [`CStr`]s and
//! arrays are slices, which go to the library as they are: a load copies nothing but the code,
//! and allocates nothing.

mod describe;
mod error;

/// What `jitdump.h` declares, as it is there.
pub use jitdump_sys as raw;

pub use describe::{Code, Function, Line, Text, Track, Unwind};
pub use error::{strerror, Error, Result};
pub use raw::jitdump_unwind_step as UnwindStep;
pub use raw::jitdump_line_row as LineRow;
pub use raw::{jitdump_offset as Offset, jitdump_position as Position};

use std::ffi::{CStr, CString, OsStr};
use std::os::raw::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::ptr;

/// How to open a dump. Numbers are the constants of [`raw`]; the fields are those of
/// `struct jitdump_options`.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    pub flags: u32,
    pub clock: u32,
    pub flush_mode: u32,
    pub elf_mach: u32,
    pub dialect: u32,
    pub flush_bytes: u64,
    pub flush_interval_ns: u64,
    pub size_limit: u64,
    pub directory: Option<&'a Path>,
    pub track: Option<&'a CStr>,
    pub descriptor: Option<BorrowedFd<'a>>,
}

/// An open dump; or [`Dump::none`], of which every call does nothing, so that a runtime which
/// is not being profiled needs no `if`.
///
/// Calls may be made from any thread at any time. Dropping it closes it; that other threads are
/// not inside of a call then, the borrow checker sees.
pub struct Dump {
    handle: *mut raw::Handle,
    warning: String,
}

// jitdump.h: calls on one handle need no lock of the caller's.
unsafe impl Send for Dump {}
unsafe impl Sync for Dump {}

const MESSAGE_SIZE: usize = 1024;

impl Dump {
    /// Creates the process's dump. The error has a line of text with the path.
    pub fn open(options: &Options) -> Result<Dump> {
        Dump::open_by(raw::jitdump_open, options)
    }

    /// If $JITDUMP asks for a dump, whose words change the options; else all calls do nothing.
    pub fn open_from_environment(defaults: &Options) -> Result<Dump> {
        Dump::open_by(raw::jitdump_open_from_environment, defaults)
    }

    fn open_by(
        opener: unsafe extern "C" fn(*mut *mut raw::Handle, *const raw::jitdump_options) -> c_int,
        options: &Options,
    ) -> Result<Dump> {
        let directory = match options
            .directory
            .map(|path| CString::new(path.as_os_str().as_bytes()))
        {
            Some(Err(_)) => {
                let code = raw::JITDUMP_ERROR_DIRECTORY_MISSING;
                return Err(Error::with_message(
                    code,
                    "the directory's name has a NUL in it".into(),
                ));
            }
            Some(Ok(directory)) => Some(directory),
            None => None,
        };
        let mut message: [c_char; MESSAGE_SIZE] = [0; MESSAGE_SIZE];
        let options = raw::jitdump_options {
            struct_size: std::mem::size_of::<raw::jitdump_options>() as u32,
            flags: options.flags,
            clock: options.clock,
            flush_mode: options.flush_mode,
            elf_mach: options.elf_mach,
            dialect: options.dialect,
            flush_bytes: options.flush_bytes,
            flush_interval_ns: options.flush_interval_ns,
            size_limit: options.size_limit,
            directory: directory.as_deref().map_or(ptr::null(), CStr::as_ptr),
            error_message: message.as_mut_ptr(),
            error_message_size: MESSAGE_SIZE as u64,
            track: options.track.map_or(ptr::null(), CStr::as_ptr),
            descriptor: options.descriptor.map_or(0, |file| file.as_raw_fd() as u64),
        };
        let mut dump = Dump::none();
        let result = unsafe { opener(&mut dump.handle, &options) };
        let message = unsafe { CStr::from_ptr(message.as_ptr()) };
        let message = message.to_string_lossy().into_owned();
        if result != 0 {
            return Err(Error::with_message(result, message.into()));
        }
        dump.warning = message;
        Ok(dump)
    }

    /// No dump.
    pub const fn none() -> Dump {
        Dump {
            handle: ptr::null_mut(),
            warning: String::new(),
        }
    }

    /// Empty, or that what was asked for is of less use than it seems.
    pub fn warning(&self) -> &str {
        &self.warning
    }

    /// Whether there is one: to be asked before line tables are collected for nothing.
    pub fn is_open(&self) -> bool {
        !self.handle.is_null()
    }

    /// Flushes and closes, and says what dropping keeps to itself.
    pub fn close(mut self) -> Result<()> {
        self.close_handle()
    }

    fn close_handle(&mut self) -> Result<()> {
        let handle = std::mem::replace(&mut self.handle, ptr::null_mut());
        check(unsafe { raw::jitdump_close(handle) })
    }

    /// `None` without a dump, and in the child of a fork before its first append.
    pub fn path(&self) -> Option<&Path> {
        let path = unsafe { raw::jitdump_path(self.handle) };
        if path.is_null() {
            return None;
        }
        let path = unsafe { CStr::from_ptr(path) };
        Some(Path::new(OsStr::from_bytes(path.to_bytes())))
    }

    /// Describes one function, written and not yet run. Returns its number for [`Dump::relocate`].
    pub fn load(&self, code: &Code) -> Result<u64> {
        let mut code_index = 0;
        code.with_raw(|code| {
            check(unsafe { raw::jitdump_load(self.handle, code, &mut code_index) })
        })?;
        Ok(code_index)
    }

    /// Describes many functions at once. The number of one that has an error is 0, and the result is
    /// the first error.
    pub fn load_many(&self, codes: &[Code]) -> (Vec<u64>, Result<()>) {
        let unwinds: Vec<_> = codes.iter().map(Code::raw_unwind).collect();
        let raw: Vec<_> = codes.iter().zip(&unwinds).map(|(code, unwind)| code.raw(unwind)).collect();
        let mut indices = vec![0; codes.len()];
        let result = check(unsafe {
            raw::jitdump_load_many(self.handle, raw.as_ptr(), raw.len() as u64, indices.as_mut_ptr())
        });
        (indices, result)
    }

    /// How many bytes to leave free behind the function for its unwinding data.
    pub fn unwind_size(&self, code: &Code) -> Result<u64> {
        let mut size = 0;
        code.with_raw(|code| {
            check(unsafe { raw::jitdump_unwind_size(self.handle, code, &mut size) })
        })?;
        Ok(size)
    }

    /// The code was copied, and has not yet run at its new place. (`move` is a word of Rust's.)
    pub fn relocate(
        &self,
        code_index: u64,
        old_code_addr: u64,
        new_code_addr: u64,
        code_size: u64,
    ) -> Result<()> {
        check(unsafe {
            raw::jitdump_move(
                self.handle,
                code_index,
                old_code_addr,
                new_code_addr,
                code_size,
            )
        })
    }

    /// Returns the number for [`Code::tier`]. The colour is a `JITDUMP_COLOR_*`.
    pub fn add_tier(&self, name: &CStr, color: u32, name_prefix: Option<&CStr>) -> Result<u32> {
        let mut tier = 0;
        let prefix = name_prefix.map_or(ptr::null(), CStr::as_ptr);
        check(unsafe {
            raw::jitdump_add_tier(self.handle, name.as_ptr(), color, prefix, &mut tier)
        })?;
        Ok(tier)
    }

    /// The text of a source that is in no file.
    pub fn embed_source(&self, path: &CStr, source: &[u8]) -> Result<()> {
        check(unsafe {
            raw::jitdump_embed_source(
                self.handle,
                path.as_ptr(),
                source.as_ptr().cast(),
                source.len() as u64,
            )
        })
    }

    /// A record of an id that the library does not know.
    pub fn append_raw(&self, id: u32, payload: &[u8]) -> Result<()> {
        check(unsafe {
            raw::jitdump_append_raw(
                self.handle,
                id,
                payload.as_ptr().cast(),
                payload.len() as u64,
            )
        })
    }

    /// Returns when all that was appended before is written.
    pub fn flush(&self) -> Result<()> {
        check(unsafe { raw::jitdump_flush(self.handle) })
    }

    /// For a fatal-signal handler, and async-signal-safe, the error included.
    pub fn flush_from_signal(&self) -> Result<()> {
        check(unsafe { raw::jitdump_flush_from_signal(self.handle) })
    }
}

impl Drop for Dump {
    fn drop(&mut self) {
        // Whom the result interests calls close().
        let _ = self.close_handle();
    }
}

/// The bytes of an .eh_frame section, for `__register_frame()` and debuggers.
pub fn unwind_eh_frame(elf_mach: u32, code: &Code) -> Result<Vec<u8>> {
    code.with_raw(|code| {
        let mut size = 0;
        let result =
            unsafe { raw::jitdump_unwind_eh_frame(elf_mach, code, ptr::null_mut(), 0, &mut size) };
        if result != raw::JITDUMP_ERROR_UNWIND_CAPACITY {
            check(result)?;
        }
        let mut bytes = vec![0; size as usize];
        check(unsafe {
            raw::jitdump_unwind_eh_frame(elf_mach, code, bytes.as_mut_ptr().cast(), size, &mut size)
        })?;
        Ok(bytes)
    })
}

/// Of the library that is loaded: major, minor, patch.
pub fn version() -> (u32, u32, u32) {
    let number = unsafe { raw::jitdump_version() };
    (number / 10000, number / 100 % 100, number % 100)
}

/// In the child of a fork, where a dump was opened with [`raw::JITDUMP_NO_ATFORK`].
pub fn after_fork() {
    unsafe { raw::jitdump_after_fork() }
}

fn check(result: c_int) -> Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(Error::new(result))
    }
}
