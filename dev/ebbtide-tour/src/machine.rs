//! The machine and the compiler of a run.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::thread::available_parallelism;

/// The compiler, the profile and the target of this build.
pub(crate) fn toolchain() -> String {
    let profile = if cfg!(debug_assertions) { "unoptimised" } else { "optimised" };
    format!("{}, {profile}, {}", env!("TOUR_TOOLCHAIN"), env!("TOUR_TARGET"))
}

/// The processor, if the system reports it.
pub(crate) fn description() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or(ARCH, |(_, model)| model.trim());
    let threads = available_parallelism().map_or(1, usize::from);
    format!("{model}, {threads} hardware threads, {OS}")
}
