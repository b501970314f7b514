//! Sets `cfg(stable_allocator)` if `core::alloc::Allocator` exists without a feature gate, as from Rust
//! 1.100 on, and `cfg(std_allocator)` then or if the feature `nightly` opens the gate, in this crate.
//! If the compiler cannot be asked, nothing is set for it and the build goes on.
//!
//! Sets `cfg(ebbtide_asan)` in a build for `AddressSanitizer`, and `cfg(ebbtide_sanitized)` in one for any
//! sanitizer that checks accesses to memory, so that memory that is reused hides faults from it.
//! `cfg(sanitize)` itself is unstable. Fuzzers that are to run the usual code under a sanitizer pass
//! `--cfg=ebbtide_ignore_sanitizer`.
//!
//! Every clean build compiles this, so it does with few of the standard library's generic functions.

use std::{
    env,
    process::{Command, Stdio},
};

fn main() {
    println!(
        "cargo::rerun-if-changed=build.rs\n\
         cargo::rerun-if-changed=probe.rs\n\
         cargo::rustc-check-cfg=cfg(std_allocator, stable_allocator)\n\
         cargo::rustc-check-cfg=cfg(ebbtide_asan, ebbtide_sanitized)"
    );
    let is_stable = has_allocator();
    if is_stable {
        println!("cargo::rustc-cfg=stable_allocator");
    }
    if is_stable || env::var_os("CARGO_FEATURE_NIGHTLY").is_some() {
        println!("cargo::rustc-cfg=std_allocator");
    }
    if env::var_os("CARGO_CFG_EBBTIDE_IGNORE_SANITIZER").is_some() {
        return;
    }
    let Ok(sanitizers) = env::var("CARGO_CFG_SANITIZE") else { return };
    for name in sanitizers.split(',') {
        if let "address" | "hwaddress" | "memory" | "memtag" | "thread" = name {
            println!("cargo::rustc-cfg=ebbtide_sanitized");
        }
        if name == "address" {
            println!("cargo::rustc-cfg=ebbtide_asan");
        }
    }
}

/// Whether the compiler accepts a use of the trait. Its version would not say so of a beta or nightly.
/// Compiles for the host, because a target may have no `core` yet (`-Zbuild-std`); the compiler's own
/// libraries are of its version.
fn has_allocator() -> bool {
    let (Some(rustc), Some(out)) = (env::var_os("RUSTC"), env::var_os("OUT_DIR")) else {
        return false;
    };
    let mut probe = Command::new(rustc);
    probe.arg("--crate-type=lib").arg("--emit=metadata").arg("--out-dir").arg(out).arg("probe.rs");
    probe.stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}
