//! The server over `ebbtide-global` over glibc, as `System` calls it.

use ebbtide_global::Scoped;
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: Scoped<System> = Scoped::new(System);

fn main() -> std::process::ExitCode {
    ebbtide_server::service::main()
}
