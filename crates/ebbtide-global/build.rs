//! Sets `cfg(ebbtide_sanitized)` in a build for a sanitizer that checks accesses to memory. `cfg(sanitize)`
//! itself is unstable. Whoever tests this crate under a sanitizer passes `--cfg=ebbtide_ignore_sanitizer`.

use std::env;

/// The sanitizers that check accesses to memory, so memory that is reused hides faults from them.
const CHECK_ACCESSES: [&str; 5] = ["address", "hwaddress", "memory", "memtag", "thread"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(ebbtide_sanitized)");
    let sanitizers = env::var("CARGO_CFG_SANITIZE").unwrap_or_default();
    let is_ignored = env::var_os("CARGO_CFG_EBBTIDE_IGNORE_SANITIZER").is_some();
    if !is_ignored && sanitizers.split(',').any(|name| CHECK_ACCESSES.contains(&name)) {
        println!("cargo::rustc-cfg=ebbtide_sanitized");
    }
}
