//! A random program over mimalloc.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOC: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    ebbtide_soak::random::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}
