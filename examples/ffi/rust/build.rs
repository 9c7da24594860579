//! Finds the installed library by pkg-config; where it is not in the usual place,
//! PKG_CONFIG_PATH leads there. Without a crate, so that a build needs no network.

use std::process::Command;

// The binary interface that src/raw.rs declares.
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

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    pkg_config(&["--print-errors", "--exists", VERSIONS]);
    let libdir = pkg_config(&["--variable=libdir", "jitdump"]);
    println!("cargo:rustc-link-search=native={}", libdir.trim_end());
    println!("cargo:rustc-link-lib=dylib=jitdump");
}
