use crate::raw;
use std::ffi::CStr;
use std::fmt;
use std::os::raw::c_int;

pub type Result<T> = std::result::Result<T, Error>;

/// A call has failed, and has appended nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    code: c_int,
    // None: the library's own text, so that an error costs no allocation.
    message: Option<Box<str>>,
}

impl Error {
    pub(crate) fn new(code: c_int) -> Error {
        Error {
            code,
            message: None,
        }
    }

    pub(crate) fn with_message(code: c_int, message: Box<str>) -> Error {
        Error {
            code,
            message: Some(message),
        }
    }

    /// A `JITDUMP_ERROR_*` of [`raw`], or one that a newer library has.
    pub fn code(&self) -> i32 {
        self.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(
            self.message
                .as_deref()
                .unwrap_or_else(|| strerror(self.code)),
        )
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "jitdump::Error({}, {})", self.code, self)
    }
}

impl std::error::Error for Error {}

/// One line of English for an error.
pub fn strerror(code: i32) -> &'static str {
    // Static text of the library's, all ASCII.
    unsafe { CStr::from_ptr(raw::jitdump_strerror(code)) }
        .to_str()
        .unwrap_or("")
}
