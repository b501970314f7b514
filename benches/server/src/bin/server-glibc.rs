//! The server over glibc.

#[global_allocator]
static ALLOCATOR: std::alloc::System = std::alloc::System;

fn main() -> std::process::ExitCode {
    ebbtide_server::service::main()
}
