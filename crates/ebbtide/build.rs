//! Sets `cfg(stable_allocator)` if `core::alloc::Allocator` exists without a feature gate, as from Rust
//! 1.100 on, and `cfg(std_allocator)` then or if the feature `nightly` opens the gate, in this crate.
//!
//! If the compiler is unknown, nothing is set for it and the build goes on.

use std::{
    env,
    ffi::OsStr,
    io::Write,
    process::{Command, Stdio},
};

/// The minor version of the first release that has the trait.
const SINCE: u32 = 100;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(std_allocator, stable_allocator)");
    let is_stable = env::var_os("RUSTC").and_then(|rustc| has_allocator(&rustc)) == Some(true);
    if is_stable {
        println!("cargo::rustc-cfg=stable_allocator");
    }
    if is_stable || env::var_os("CARGO_FEATURE_NIGHTLY").is_some() {
        println!("cargo::rustc-cfg=std_allocator");
    }
}

/// Whether the compiler has the trait, or nothing if it does not say which version it is.
fn has_allocator(rustc: &OsStr) -> Option<bool> {
    let output = Command::new(rustc).arg("-vV").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let release = text.lines().find_map(|line| line.strip_prefix("release: "))?;
    let minor: u32 = release.strip_prefix("1.")?.split('.').next()?.parse().ok()?;
    // A nightly has the number of its release before it has all of that release.
    let is_release = !release.contains('-');
    Some(minor >= SINCE && (is_release || compiles(rustc) == Some(true)))
}

/// Whether the compiler accepts a use of the trait. Compiles for the host, because a target may have
/// no `core` yet (`-Zbuild-std`); the compiler's own libraries are of its version.
fn compiles(rustc: &OsStr) -> Option<bool> {
    let mut child = Command::new(rustc)
        .args(["--crate-name=probe", "--crate-type=lib", "--emit=metadata", "--out-dir"])
        .arg(env::var_os("OUT_DIR")?)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let written = child
        .stdin
        .take()?
        .write_all(b"#![no_std] pub fn probe<A: core::alloc::Allocator>(_: A) {}");
    Some(child.wait().ok()?.success() && written.is_ok())
}
