//! A random program over glibc.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOC: std::alloc::System = std::alloc::System;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    ebbtide_soak::random::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}
