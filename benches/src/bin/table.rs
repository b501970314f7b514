//! stumpalo's table, over the same heap allocator as the original.

use std::{process::ExitCode, time::Duration};

#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ebbtide_benches::harness::main(
        Duration::from_millis(3000),
        Duration::from_millis(700),
        |bench| bench.settled(ebbtide_benches::table::run),
    )
}
