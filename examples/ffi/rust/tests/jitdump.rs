//! What the binding adds to the library, judged by the dumps that it writes, which
//! tests/jitdump_tests/jitdump_reader.py reads.

use jitdump::raw::*;
use jitdump::{
    Code, Dump, Error, Function, Line, Offset, Options, Position, Track, Unwind, UnwindStep,
};
use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::process::Command;

const CODE: &[u8] = b"abcd";
const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests");

/// A directory that goes when the test ends.
struct Directory(PathBuf);

impl Directory {
    fn new(test: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("jitdump-{}-{}", std::process::id(), test));
        std::fs::create_dir(&path).unwrap();
        Directory(path)
    }

    fn open(&self, options: Options) -> Dump {
        Dump::open(&Options {
            directory: Some(&self.0),
            ..options
        })
        .unwrap()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn text(bytes: &'static [u8]) -> &'static CStr {
    CStr::from_bytes_with_nul(bytes).unwrap()
}

fn some_code() -> Code<'static> {
    Code::new(text(b"f\0"), 0x1000, CODE)
}

/// All records as the reader prints them. It fails where one breaks a rule.
fn read(dump: &Path) -> String {
    let output = Command::new("python3")
        .env("PYTHONPATH", TESTS)
        .args(["-m", "jitdump_tests.jitdump_reader", "dump"])
        .arg(dump)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn assert_fails<T>(code: i32, result: Result<T, Error>) {
    let error = result.err().expect("an error");
    assert_eq!(error.code(), code, "{}", error);
    assert_eq!(error.to_string(), jitdump::strerror(code));
}

#[test]
fn open_says_on_which_path_it_failed() {
    let missing = Path::new("/nowhere/at all");
    let error = Dump::open(&Options {
        directory: Some(missing),
        ..Options::default()
    })
    .err()
    .unwrap();
    assert_eq!(error.code(), JITDUMP_ERROR_DIRECTORY_MISSING);
    assert!(error.to_string().contains("/nowhere/at all"), "{}", error);
    let error = Dump::open(&Options {
        directory: Some(Path::new("a\0b")),
        ..Options::default()
    });
    assert!(error.err().unwrap().to_string().contains("NUL"));
}

#[test]
fn bad_code_appends_nothing_and_the_dump_stays_usable() {
    let directory = Directory::new("bad");
    let dump = directory.open(Options {
        flags: JITDUMP_STRICT,
        ..Options::default()
    });
    let line = Line::new(0x1000, text(b"a\0"), 1, 0);
    let lines = [line, line];
    let outside = [Line::new(0x1004, text(b"a\0"), 1, 0)];
    let good = some_code();
    assert_fails(
        JITDUMP_ERROR_NAME_MISSING,
        dump.load(&Code {
            name: "".into(),
            ..good
        }),
    );
    assert_fails(
        JITDUMP_ERROR_CODE_ADDR,
        dump.load(&Code {
            code_addr: u64::MAX,
            ..good
        }),
    );
    assert_fails(
        JITDUMP_ERROR_LINES_ORDER,
        dump.load(&Code {
            lines: &lines,
            ..good
        }),
    );
    assert_fails(
        JITDUMP_ERROR_LINES_RANGE,
        dump.load(&Code {
            lines: &outside,
            ..good
        }),
    );
    assert_fails(JITDUMP_ERROR_TIER, dump.load(&Code { tier: 3, ..good }));
    let unwind = Some(Unwind {
        frame: 7,
        steps: &[],
    });
    assert_fails(
        JITDUMP_ERROR_UNWIND_FRAME,
        dump.load(&Code { unwind, ..good }),
    );
    let tracks = [Track::new(None, &[], &[], &[])];
    assert_fails(
        JITDUMP_ERROR_TRACK_EMPTY,
        dump.load(&Code {
            tracks: &tracks,
            ..good
        }),
    );
    assert_fails(
        JITDUMP_ERROR_CODE_INDEX,
        dump.relocate(0, 0x1000, 0x2000, 4),
    );
    assert_fails(JITDUMP_ERROR_RECORD_ID, dump.append_raw(0, b"x"));
    dump.load(&good).unwrap();
    assert_eq!(read(dump.path().unwrap()).matches("\nLoad ").count(), 1);
}

#[test]
fn a_sticky_error_comes_back_from_close() {
    let directory = Directory::new("sticky");
    let dump = directory.open(Options {
        size_limit: 4096,
        ..Options::default()
    });
    let large = vec![0; 5000];
    let large = Code::new(text(b"f\0"), 0x1000, &large);
    assert_fails(JITDUMP_ERROR_SIZE_LIMIT, dump.load(&large));
    assert_fails(JITDUMP_ERROR_SIZE_LIMIT, dump.load(&some_code()));
    assert_fails(JITDUMP_ERROR_SIZE_LIMIT, dump.close());
}

#[test]
fn without_a_dump_every_call_does_nothing() {
    let dump = Dump::none();
    assert!(!dump.is_open());
    assert_eq!(dump.path(), None);
    assert_eq!(dump.load(&some_code()), Ok(0));
    assert_eq!(dump.unwind_size(&some_code()), Ok(0));
    assert_eq!(dump.add_tier(text(b"t\0"), JITDUMP_COLOR_RED, None), Ok(0));
    assert_eq!(dump.relocate(1, 0x1000, 0x2000, 4), Ok(()));
    assert_eq!(dump.embed_source(text(b"a\0"), b"text"), Ok(()));
    assert_eq!(dump.append_raw(1000, b"x"), Ok(()));
    assert_eq!(dump.flush(), Ok(()));
    assert_eq!(dump.flush_from_signal(), Ok(()));
    assert_eq!(dump.close(), Ok(()));
}

#[test]
fn a_dialect_that_nothing_reads_is_warned_of() {
    let directory = Directory::new("warning");
    let with = |dialect| Options {
        dialect,
        ..Options::default()
    };
    assert_eq!(directory.open(with(JITDUMP_DIALECT_PERF)).warning(), "");
    let dump = directory.open(with(JITDUMP_DIALECT_SAMPLY_2023));
    assert!(dump.warning().contains("no profiler"));
}

#[test]
fn dropping_closes() {
    let directory = Directory::new("drop");
    let dump = directory.open(Options::default());
    let path = dump.path().unwrap().to_owned();
    assert!(!read(&path).contains("\nClose "));
    drop(dump);
    assert!(read(&path).contains("\nClose "));
}

#[test]
fn all_that_a_function_can_have() {
    let directory = Directory::new("all");
    const X86_64: u32 = 62; // EM_X86_64
    let flags = JITDUMP_SOURCE_FILES;
    let dump = directory.open(Options {
        flags,
        elf_mach: X86_64,
        ..Options::default()
    });
    let tier = dump
        .add_tier(
            text(b"tier\0"),
            JITDUMP_COLOR_GREEN,
            Some(text(b"Tier: \0")),
        )
        .unwrap();
    dump.embed_source(text(b"source\0"), b"its text\n").unwrap();
    let step = |code_offset, offset| UnwindStep {
        code_offset,
        op: JITDUMP_UNWIND_DEF_CFA,
        reg: JITDUMP_X86_64_RSP,
        offset,
    };
    let steps = [step(1, 16), step(3, 8)];
    let functions = [
        Function::new(text(b"outer\0"), Some(text(b"file 0\0")), 1, 1),
        Function::new(text(b"inner\0"), Some(text(b"file 1\0")), 1, 1).with_flags(0),
    ];
    let positions = [
        Position {
            function: 0,
            line: 10,
            column: 0,
            caller: JITDUMP_NONE,
        },
        Position {
            function: 1,
            line: 20,
            column: 5,
            caller: 0,
        },
    ];
    let offsets = [
        Offset {
            code_offset: 0,
            position: 0,
        },
        Offset {
            code_offset: 2,
            position: 1,
        },
    ];
    let tracks = [Track::new(
        Some(text(b"source\0")),
        &functions,
        &positions,
        &offsets,
    )];
    let unwind = Some(Unwind {
        frame: JITDUMP_FRAME_STEPS,
        steps: &steps,
    });
    let code = Code {
        tier,
        unwind,
        tracks: &tracks,
        ..some_code()
    };

    let room = dump.unwind_size(&code).unwrap();
    let without_steps = Unwind {
        steps: &[],
        ..unwind.unwrap()
    };
    let without_steps = Code {
        unwind: Some(without_steps),
        ..code
    };
    assert!(room > dump.unwind_size(&without_steps).unwrap());
    let index = dump.load(&code).unwrap();
    assert!(room > 0 && index > 0);
    dump.relocate(index, 0x1000, 0x2000, 4 + room).unwrap();
    dump.append_raw(1000, b"payload").unwrap();
    dump.flush().unwrap();
    let records = read(dump.path().unwrap());
    for expected in [
        "Tier: f",
        "line=10",
        "'file 0'",
        "line=20",
        "'file 1'",
        "\nUnwindingInfo ",
        "\nMove ",
        "payload=7 bytes",
    ] {
        assert!(records.contains(expected), "no {} in {}", expected, records);
    }
    let mut files = std::fs::read_dir(&directory.0)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let source = files
        .find(|path| path.to_string_lossy().ends_with("-source"))
        .unwrap();
    assert_eq!(std::fs::read(source).unwrap(), b"its text\n");
}

#[test]
fn eh_frame_for_the_process_itself() {
    let unwind = Some(Unwind {
        frame: JITDUMP_FRAME_STEPS,
        steps: &[],
    });
    let section = jitdump::unwind_eh_frame(
        62,
        &Code {
            unwind,
            ..some_code()
        },
    )
    .unwrap();
    assert!(section
        .windows(8)
        .any(|window| window == 0x1000u64.to_le_bytes()));
    assert!(section.ends_with(&[0; 4]), "a terminator");
    assert_fails(
        JITDUMP_ERROR_ARGUMENT,
        jitdump::unwind_eh_frame(62, &some_code()),
    );
}

#[test]
fn many_threads_load_at_once() {
    let directory = Directory::new("threads");
    let dump = directory.open(Options {
        flush_mode: JITDUMP_FLUSH_BACKGROUND,
        ..Options::default()
    });
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let dump = &dump;
            scope.spawn(move || {
                for i in 0..100 {
                    let name = CString::new(format!("{}.{}", thread, i)).unwrap();
                    dump.load(&Code {
                        name: (&name).into(),
                        ..some_code()
                    })
                    .unwrap();
                }
            });
        }
    });
    dump.flush().unwrap();
    let records = read(dump.path().unwrap());
    for thread in 0..4 {
        for i in 0..100 {
            assert!(records.contains(&format!("name='{}.{}'", thread, i)));
        }
    }
}

#[test]
fn the_library_is_of_this_version() {
    let (major, minor, _) = jitdump::version();
    assert_eq!(format!("{}.{}", major, minor), "0.2");
}
