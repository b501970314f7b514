//! Sets `cfg(stable_allocator)` if `core::alloc::Allocator` exists without a feature gate, as from Rust
//! 1.100 on, and `cfg(std_allocator)` then or if the feature `nightly` opens the gate, in this crate.
//! If the compiler is unknown, nothing is set for it and the build goes on.
//!
//! Sets `cfg(ebbtide_asan)` in a build for `AddressSanitizer`, and `cfg(ebbtide_sanitized)` in one for any
//! sanitizer that checks accesses to memory. `cfg(sanitize)` itself is unstable. Fuzzers that are to run the
//! usual code under a sanitizer pass `--cfg=ebbtide_ignore_sanitizer`.

use std::{
    env,
    ffi::OsStr,
    io::Write,
    process::{Command, Stdio},
};

/// The minor version of the first release that has the trait.
const SINCE: u32 = 100;

/// The sanitizers that check accesses to memory, so memory that is reused hides faults from them.
const CHECK_ACCESSES: [&str; 5] = ["address", "hwaddress", "memory", "memtag", "thread"];

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
    println!("cargo::rustc-check-cfg=cfg(ebbtide_asan, ebbtide_sanitized)");
    let sanitizers = match env::var_os("CARGO_CFG_EBBTIDE_IGNORE_SANITIZER") {
        Some(_) => String::new(),
        None => env::var("CARGO_CFG_SANITIZE").unwrap_or_default(),
    };
    if sanitizers.split(',').any(|name| CHECK_ACCESSES.contains(&name)) {
        println!("cargo::rustc-cfg=ebbtide_sanitized");
    }
    if sanitizers.split(',').any(|name| name == "address") {
        println!("cargo::rustc-cfg=ebbtide_asan");
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
