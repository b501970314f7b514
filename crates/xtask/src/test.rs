//! `cargo xtask test`: runs every check, the fast ones first, and stops at the first failure.

use crate::Failure;
use crate::step::{End, Outcome, Step};
use crate::tally::Tally;
use crate::tool::{
    AARCH64, CLANG, CLIPPY, DENY, JULIA, LIBSTDCXX, LLVM_COV, LLVM_TOOLS, MESON, MSRV, MULTILIB,
    MUTANTS, NIGHTLY, NLOHMANN, NLOHMANN_SUITE, NODE, QEMU, RUSTFMT, SEMVER, UNIX, VALGRIND, WINE,
};
use std::time::Instant;

/// `nostd/` has steps of its own because `panic = "abort"` requires a separate workspace, `fuzz/`
/// because its targets need a nightly compiler.
const STEPS: &[Step] = &[
    Step::new("formatting", "cargo fmt --all --check").needs(&[RUSTFMT]),
    Step::new("formatting of nostd/", "cargo fmt --manifest-path nostd/Cargo.toml --check")
        .needs(&[RUSTFMT]),
    Step::new("layers of ARCHITECTURE.md", "cargo test --package xtask --test layers"),
    Step::new(
        "lints",
        "cargo clippy --workspace --all-targets \
         --features ebbtide/full,ebbtide/poison,ebbtide-global/full,ebbtide-global/poison -- -D warnings",
    )
    .needs(&[CLIPPY]),
    Step::new(
        "lints of the core, no feature",
        "cargo clippy --package ebbtide --no-default-features -- -D warnings",
    )
    .needs(&[CLIPPY]),
    Step::new(
        "lints of the core, alloc without std",
        "cargo clippy --package ebbtide --no-default-features --features alloc -- -D warnings",
    )
    .needs(&[CLIPPY]),
    Step::new(
        "formatting of an example of Rust and C",
        "cargo fmt --manifest-path crates/ebbtide-capi/examples/shared/Cargo.toml --check",
    )
    .needs(&[RUSTFMT]),
    Step::new(
        "formatting of a library for Julia's tests",
        "cargo fmt --manifest-path julia/Ebbtide/test/shared_scope/Cargo.toml --check",
    )
    .needs(&[RUSTFMT]),
    Step::new("formatting of fuzz/", "cargo fmt --manifest-path fuzz/Cargo.toml --check")
        .needs(&[RUSTFMT]),
    Step::new("lints of nostd/", "cargo clippy --manifest-path nostd/Cargo.toml -- -D warnings")
        .needs(&[CLIPPY]),
    Step::new("lints of fuzz/", "cargo clippy --manifest-path fuzz/Cargo.toml -- -D warnings")
        .needs(&[CLIPPY])
        .slow(),
    Step::new(
        "documentation",
        "RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps --features ebbtide/full,ebbtide-global/full",
    ),
    Step::new("clang, for the tests", "clang++ --version").needs(&[CLANG]),
    Step::new("Meson, for the tests", "meson --version").needs(&[MESON]),
    Step::new("nlohmann-json, for the tests", "test -e /usr/include/nlohmann/json.hpp")
        .needs(&[NLOHMANN]),
    Step::new("tests", "cargo test --workspace"),
    Step::new(
        "fast paths on aarch64",
        "cargo test --package ebbtide-codegen --test pinned aarch64",
    )
    .needs(&[AARCH64]),
    Step::new(
        "tests of the core, optimised",
        "cargo test --release --package ebbtide --lib --tests",
    )
    .slow(),
    Step::new(
        "tests of the core, every feature",
        "cargo test --package ebbtide --features full,poison",
    ),
    Step::new(
        "tests of the core, no feature",
        "cargo test --package ebbtide --no-default-features --lib --tests",
    ),
    Step::new(
        "tests of the core, alloc without std",
        "cargo test --package ebbtide --no-default-features --features alloc --lib --tests",
    ),
    Step::new(
        "tests of the transparent allocator, every feature",
        "cargo test --package ebbtide-global --features full,poison",
    ),
    Step::new(
        "tests of the transparent allocator, optimised, with poison",
        "cargo test --release --package ebbtide-global --features poison --lib --tests",
    )
    .slow(),
    Step::new(
        "executables without std or allocator",
        "cargo test --manifest-path nostd/Cargo.toml",
    ),
    Step::new(
        "oldest supported compiler",
        "cargo +1.85 check --target-dir target/msrv --package ebbtide --package ebbtide-global \
         --features ebbtide/full,ebbtide/poison,ebbtide-global/full,ebbtide-global/poison",
    )
    .needs(&[MSRV])
    .slow(),
    Step::new("oldest versions of dependencies", "bash ci/minimal-versions.sh")
        .needs(&[NIGHTLY])
        .slow(),
    Step::new(
        "licences, duplicates and sources of dependencies",
        "cargo deny check bans licenses sources",
    )
    .needs(&[DENY])
    .slow(),
    Step::new("the API since the last release", "bash ci/semver.sh").needs(&[SEMVER]).slow(),
    Step::new("packages, built from what they contain", "bash ci/package.sh").slow(),
    Step::new("Windows, under Wine", "bash ci/platforms.sh windows").needs(&[WINE]).slow(),
    Step::new("32 bits", "bash ci/platforms.sh 32-bit").needs(&[MULTILIB]).slow(),
    Step::new("aarch64, under QEMU", "bash ci/platforms.sh aarch64").needs(&[QEMU]).slow(),
    Step::new("WebAssembly", "bash ci/platforms.sh wasm").needs(&[NODE]).slow(),
    Step::new("Julia package", "bash ci/julia.sh").needs(&[JULIA]).slow(),
    Step::new("FreeBSD and macOS, compiled only", "bash ci/platforms.sh unix").needs(&[UNIX]).slow(),
    Step::new(
        "fast paths and those of other arenas",
        "cargo test --package ebbtide-codegen --test pinned -- --ignored",
    )
    .needs(&[AARCH64])
    .slow(),
    Step::new(
        "memory of programs with scopes and without",
        "cargo run --release --quiet --package ebbtide-soak -- --check",
    )
    .slow(),
    Step::new("loom models", "bash ci/loom.sh").slow(),
    Step::new("AddressSanitizer", "bash ci/asan.sh").needs(&[NIGHTLY]).slow(),
    Step::new("ThreadSanitizer", "bash ci/tsan.sh").needs(&[NIGHTLY]).slow(),
    Step::new("Valgrind", "bash ci/valgrind.sh").needs(&[VALGRIND]).slow(),
    Step::new(
        "instructions of the C interface",
        "cargo test --release --package ebbtide-capi --test counts -- --ignored --nocapture",
    )
    .needs(&[VALGRIND])
    .slow(),
    Step::new(
        "instructions of programs in transparent arenas of C++",
        "cargo test --release --package ebbtide-new --test counts -- --ignored --nocapture",
    )
    .needs(&[VALGRIND, NLOHMANN])
    .slow(),
    Step::new(
        "line coverage of the core",
        "bash ci/coverage.sh --summary-only --fail-under-lines 95",
    )
    .needs(&[LLVM_COV, LLVM_TOOLS])
    .slow(),
    Step::new("mutants of the core", "bash ci/mutants.sh")
        .needs(&[MUTANTS])
        .slow(),
    Step::new("hashbrown's tests, with its tables in a scope", "bash ci/others/hashbrown.sh").slow(),
    Step::new("tests of crates moved over to ebbtide", "bash ci/others/moved.sh").slow(),
    Step::new("nlohmann-json's tests, each in a transparent arena", "bash ci/others/new.sh")
        .needs(&[NLOHMANN_SUITE])
        .slow(),
    Step::new("other crates' tests in transparent scopes", "bash ci/others/global.sh").slow(),
    Step::new(
        "libstdc++'s tests of memory resources, with ours",
        "bash ci/others/libstdcxx.sh",
    )
    .needs(&[LIBSTDCXX])
    .slow(),
];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let quick = match arguments {
        [] => false,
        [flag] if flag == "--quick" => true,
        _ => {
            return Err(Failure::Usage(format!("unknown arguments: test {}", arguments.join(" "))));
        }
    };
    let steps: Vec<&Step> = STEPS.iter().filter(|step| !(quick && step.slow)).collect();

    let start = Instant::now();
    let mut sum = Tally::default();
    let mut report = String::new();
    for (index, step) in steps.iter().enumerate() {
        println!("\n=== {}/{}: {} ===", index + 1, steps.len(), step.title);
        let Outcome { end, time, tally } = step.run();
        sum += tally;
        let seconds = time.as_secs_f64();
        let verdict = match &end {
            End::Passed => tally.to_string(),
            End::LeftOut(why) => format!("left out: {why}"),
            End::Failed(why) => format!("FAILED: {why}"),
        };
        println!("=== {verdict} ({seconds:.1} s) ===");
        report += &format!("{seconds:7.1} s  {}: {verdict}\n", step.title);
        if let End::Failed(_) = end {
            break;
        }
    }

    println!("\n=== summary ===\n{report}{:7.1} s  total", start.elapsed().as_secs_f64());
    println!("\n{sum}");
    if sum.failed > 0 { Err(Failure::Work) } else { Ok(()) }
}
