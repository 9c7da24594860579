//! Compiles the library's sources, or, without the feature `vendored`, finds the installed library by
//! pkg-config; where that is not in the usual place, PKG_CONFIG_PATH leads there. $CC and $AR are the
//! compiler and archiver, for a build for another machine, say. Without a crate, so that a build needs no
//! network.

use std::process::Command;

#[cfg(feature = "vendored")]
fn main() {
    use std::path::{Path, PathBuf};

    fn program(variable: &str, usual: &str) -> Command {
        println!("cargo:rerun-if-env-changed={}", variable);
        Command::new(std::env::var_os(variable).unwrap_or_else(|| usual.into()))
    }
    fn run(command: &mut Command) {
        let status = command.status();
        assert!(
            matches!(status, Ok(status) if status.success()),
            "{:?}: {:?}",
            command,
            status
        );
    }

    // In a published crate; else in the project, of which this crate is a part.
    let (source, include) = if Path::new("vendor").exists() {
        ("vendor/jitdump.c", "vendor")
    } else {
        ("../../../../src/jitdump.c", "../../../../include")
    };
    let source_folder = Path::new(source).parent().unwrap();
    println!("cargo:rerun-if-changed={}", source_folder.display());
    println!("cargo:rerun-if-changed={}", include);

    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    let object = out.join("jitdump.o");
    run(program("CC", "cc")
        .args(["-std=c11", "-O2", "-fPIC", "-pthread", "-fvisibility=hidden", "-c", source, "-I"])
        // Else a program that exports its names would have those of another version called.
        .args([include, "-DJITDUMP_API=__attribute__((visibility(\"hidden\")))", "-o"])
        .arg(&object));
    let archive = out.join("libjitdump.a");
    let _ = std::fs::remove_file(&archive);
    run(program("AR", "ar").arg("crs").arg(&archive).arg(&object));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=jitdump");
    println!("cargo:rustc-link-lib=pthread");
}

#[cfg(not(feature = "vendored"))]
fn main() {
    // The binary interface that src/lib.rs declares.
    const VERSIONS: &str = "jitdump >= 0.2 jitdump < 0.3";

    fn pkg_config(arguments: &[&str]) -> String {
        let output = Command::new("pkg-config")
            .args(arguments)
            .output()
            .expect("pkg-config can't be run");
        assert!(
            output.status.success(),
            "libjitdump is not installed, or PKG_CONFIG_PATH does not lead to it:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("a path in UTF-8")
    }

    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    pkg_config(&["--print-errors", "--exists", VERSIONS]);
    let libdir = pkg_config(&["--variable=libdir", "jitdump"]);
    println!("cargo:rustc-link-search=native={}", libdir.trim_end());
    println!("cargo:rustc-link-lib=dylib=jitdump");
}
