//! A random program over `Scoped` over glibc.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOC: ebbtide_global::Scoped<std::alloc::System> =
    ebbtide_global::Scoped::new(std::alloc::System);

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    ebbtide_soak::random::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}
