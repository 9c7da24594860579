//! Writes a minidump of another process, as a crash handler does that lives in a process of its own.
//!
//!     write-minidump PID THREAD MINIDUMP [CONTEXT]
//!
//! CONTEXT has a struct CrashContext of the crate crash-context: registers and signal of the thread
//! that crashed. Without, the thread is taken as it is now.
use minidump_writer::minidump_writer::MinidumpWriterConfig;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if !(4..=5).contains(&arguments.len()) {
        return Err("usage: write-minidump PID THREAD MINIDUMP [CONTEXT]".into());
    }
    let mut config = MinidumpWriterConfig::new(arguments[1].parse()?, arguments[2].parse()?);
    if let Some(path) = arguments.get(4) {
        let inner = crash_context::CrashContext::from_bytes(&std::fs::read(path)?)
            .ok_or("the context has another size")?;
        config.set_crash_context(minidump_writer::CrashContextExt { inner });
    }
    config.write(&mut std::fs::File::create(&arguments[3])?)?;
    Ok(())
}
