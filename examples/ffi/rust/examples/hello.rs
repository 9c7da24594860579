//! The smallest honest JIT: one function, loaded, run for a second of processor time, and
//! described to profilers. Its source is this file: each instruction comes from the line below
//! in which its bytes stand.
//!
//!     perf record -k mono target/release/examples/hello

use jitdump::{Code, Dump, Line, Options};
use std::ffi::{CStr, CString};
use std::os::raw::{c_int, c_long};

macro_rules! code {
    ($($byte:expr),*) => { (line!(), &[$($byte),*]) };
}

/// Adds up the numbers from its argument down to 1.
#[cfg(target_arch = "x86_64")]
const INSTRUCTIONS: &[(u32, &[u8])] = &[
    code!(0x31, 0xc0),       // xor eax, eax
    code!(0x48, 0x01, 0xf8), // add rax, rdi    (the loop)
    code!(0x48, 0xff, 0xcf), // dec rdi
    code!(0x75, 0xf8),       // jnz the loop
    code!(0xc3),             // ret
];
#[cfg(target_arch = "aarch64")]
const INSTRUCTIONS: &[(u32, &[u8])] = &[
    code!(0xe1, 0x03, 0x1f, 0xaa), // mov  x1, xzr
    code!(0x21, 0x00, 0x00, 0x8b), // add  x1, x1, x0    (the loop)
    code!(0x00, 0x04, 0x00, 0xf1), // subs x0, x0, #1
    code!(0xc1, 0xff, 0xff, 0x54), // b.ne the loop
    code!(0xe0, 0x03, 0x01, 0xaa), // mov  x0, x1
    code!(0xc0, 0x03, 0x5f, 0xd6), // ret
];

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/", file!(), "\0");

// Of libc, as Linux has them on both architectures.
extern "C" {
    fn mmap(
        addr: *mut u8,
        size: usize,
        prot: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut u8;
    fn mprotect(addr: *mut u8, size: usize, prot: c_int) -> c_int;
    fn clock() -> c_long;
    #[cfg(target_arch = "aarch64")]
    fn __clear_cache(start: *mut u8, end: *mut u8);
}
const PROT_READ: c_int = 1;
const PROT_WRITE: c_int = 2;
const PROT_EXEC: c_int = 4;
const MAP_PRIVATE: c_int = 2;
const MAP_ANONYMOUS: c_int = 0x20;
const CLOCKS_PER_SEC: c_long = 1_000_000;

/// Executable memory with the code in it, for the process's life.
fn install(code: &[u8]) -> &'static [u8] {
    let size = code.len();
    unsafe {
        let writable = PROT_READ | PROT_WRITE;
        let memory = mmap(
            std::ptr::null_mut(),
            size,
            writable,
            MAP_PRIVATE | MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(memory as isize, -1);
        std::ptr::copy_nonoverlapping(code.as_ptr(), memory, size);
        assert_eq!(mprotect(memory, size, PROT_READ | PROT_EXEC), 0);
        #[cfg(target_arch = "aarch64")]
        __clear_cache(memory, memory.add(size));
        std::slice::from_raw_parts(memory, size)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = INSTRUCTIONS
        .iter()
        .map(|(_, bytes)| *bytes)
        .collect::<Vec<_>>()
        .concat();
    let code = install(&bytes);
    let code_addr = code.as_ptr() as u64;
    let file = CStr::from_bytes_with_nul(FILE.as_bytes())?;
    let mut offsets = Vec::new(); // of each instruction, with its line
    let mut size = 0;
    for (line, instruction) in INSTRUCTIONS {
        offsets.push((size, *line));
        size += instruction.len() as u64;
    }
    let lines: Vec<Line> = offsets
        .iter()
        .map(|(offset, line)| Line::new(code_addr + offset, file, *line, 0))
        .collect();

    let dump = Dump::open(&Options::default())?;
    let name = CString::new("hello_from_rust")?;
    dump.load(&Code {
        lines: &lines,
        ..Code::new(&name, code_addr, code)
    })?;

    // What the code is in truth, for tests/bindings/ffi.
    let pid = std::process::id();
    let hex: String = bytes.iter().map(|byte| format!("{:02x}", byte)).collect();
    let lines: Vec<[u64; 3]> = offsets
        .iter()
        .map(|(o, line)| [*o, u64::from(*line), 1])
        .collect();
    print!(
        r#"{{"function": {:?}, "pid": {}, "addr": {}, "size": {}, "#,
        name, pid, code_addr, size
    );
    println!(
        r#""since": 0, "file": {:?}, "code": "{}", "lines": {:?}}}"#,
        file, hex, lines
    );
    println!(r#"{{"dump": {:?}, "pid": {}}}"#, dump.path().unwrap(), pid);

    let function: extern "C" fn(u64) -> u64 = unsafe { std::mem::transmute(code.as_ptr()) };
    while unsafe { clock() } < CLOCKS_PER_SEC {
        assert_eq!(function(1000000), 500000500000);
    }
    dump.close()?;
    Ok(())
}
