//! A random program over `Scoped` over mimalloc.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOC: ebbtide_global::Scoped<mimalloc::MiMalloc> =
    ebbtide_global::Scoped::new(mimalloc::MiMalloc);

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    ebbtide_soak::random::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}
