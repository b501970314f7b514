//! The checks, in the order in which they start: the fast ones of each tier first, and those that share
//! the usual target folder before those beside them, so that one of the two workers never waits.

use crate::step::{Step, Tier::*};
use crate::tool::{
    AARCH64, ACTIONLINT, ALLOCATORS, BETA, CLANG, CLIPPY, CONAN, CPP_LIBRARIES, DEBHELPER, DENY,
    GDB, HOOKED, I686, JULIA, LIBSTDCXX, LLVM_COV, LLVM_TOOLS, MDBOOK, MESON, MSRV, MULTILIB,
    MUTANTS, NIGHTLY, NLOHMANN, NLOHMANN_SUITE, NODE, OTHER_PMR, PYTHON, QEMU, RUSTFMT, SEMVER,
    UNIX, VALGRIND, WINE,
};

/// `nostd/` and `fuzz/` are workspaces of their own: `panic = "abort"` requires one, and the targets
/// of a fuzzer need a nightly compiler.
pub(crate) const STEPS: &[Step] = &[
    Step::new(Check, "formatting", "bash ci/format.sh").needs(&[RUSTFMT]),
    Step::new(Check, "workflows", "bash ci/actionlint.sh").needs(&[ACTIONLINT]),
    Step::new(Check, "rules of the repository", "cargo test --package xtask"),
    Step::new(Check, "lints", "bash ci/lints.sh").needs(&[CLIPPY]),
    Step::new(
        Check,
        "documentation",
        "RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps --features ebbtide/full,ebbtide-global/full \
         --features ebbtide-bumpalo/boxed,ebbtide-bumpalo/collections",
    ),
    Step::new(
        Check,
        "examples of the documentation",
        "cargo test --doc --package ebbtide --package ebbtide-global --package ebbtide-bumpalo \
         --package ebbtide-typed-arena --features ebbtide-bumpalo/boxed,ebbtide-bumpalo/collections \
         --features ebbtide/full,ebbtide/poison,ebbtide-global/full,ebbtide-global/poison",
    ),
    Step::new(
        Check,
        "unit tests",
        "cargo test --workspace --exclude xtask --lib --bins \
         --features ebbtide/full,ebbtide/poison,ebbtide-global/full,ebbtide-global/poison",
    ),
    Step::new(
        Test,
        "tests of the core, every feature",
        "cargo test --package ebbtide --features full,poison --tests --examples",
    ),
    Step::new(
        Test,
        "tests of the transparent allocator, every feature",
        "cargo test --package ebbtide-global --features full,poison --tests --examples",
    ),
    Step::new(
        Test,
        "tests of the core, no feature",
        "cargo test --package ebbtide --no-default-features --test all",
    ),
    Step::new(
        Test,
        "tests of the core, alloc without std",
        "cargo test --package ebbtide --no-default-features --features alloc --test all",
    ),
    Step::new(
        Test,
        "tests of the other crates",
        "cargo test --workspace --exclude ebbtide --exclude ebbtide-global --exclude xtask \
         --features ebbtide-bumpalo/allocator-api2,ebbtide-bumpalo/boxed,ebbtide-bumpalo/collections \
         --features ebbtide-bumpalo/serde,ebbtide-bumpalo/std",
    )
    .wants(&[CLANG, MESON, NLOHMANN, ALLOCATORS, AARCH64]),
    Step::new(
        Test,
        "tests of the transparent allocator, optimised, with poison",
        "cargo test --target-dir target/optimised --profile optimised --package ebbtide-global \
         --features poison --tests",
    )
    .beside("optimised"),
    Step::new(Test, "Julia package", "bash ci/julia.sh").needs(&[JULIA]).beside("julia"),
    Step::new(Test, "Python package", "bash ci/python.sh").needs(&[PYTHON]).beside("julia"),
    Step::new(Test, "loom models", "LOOM_MAX_PREEMPTIONS=2 bash ci/loom.sh").beside("loom"),
    Step::new(Test, "AddressSanitizer", "bash ci/asan.sh").needs(&[NIGHTLY]).beside("asan"),
    Step::new(
        Test,
        "executables without std or allocator",
        "cargo test --manifest-path nostd/Cargo.toml",
    )
    .beside("nostd"),
    Step::new(
        Test,
        "oldest supported compiler",
        concat!(
            "cargo +",
            env!("CARGO_PKG_RUST_VERSION"),
            " check --target-dir target/msrv --package ebbtide --package ebbtide-global \
             --package ebbtide-bumpalo --package ebbtide-typed-arena \
             --features ebbtide/full,ebbtide/poison,ebbtide-global/full,ebbtide-global/poison \
             --features ebbtide-bumpalo/allocator-api2,ebbtide-bumpalo/boxed \
             --features ebbtide-bumpalo/collections,ebbtide-bumpalo/serde,ebbtide-bumpalo/std",
        ),
    )
    .needs(&[MSRV])
    .beside("msrv"),
    Step::new(
        Test,
        "32 bits, compiled only",
        "cargo check --target-dir target/msrv --target i686-unknown-linux-gnu --package ebbtide",
    )
    .needs(&[I686])
    .beside("msrv"),
    Step::new(Test, "packages, built from what they contain", "bash ci/package.sh")
        .beside("packages"),
    Step::new(Test, "tests of a crate moved over to ebbtide", "bash ci/others/moved.sh pretty")
        .beside("others"),
    // Nothing is linked, so libFuzzer need not be compiled.
    Step::new(
        Test,
        "lints of fuzz/",
        "CUSTOM_LIBFUZZER_PATH=target/libfuzzer.a cargo clippy --manifest-path fuzz/Cargo.toml -- -D warnings",
    )
    .needs(&[CLIPPY])
    .beside("fuzz"),
    Step::new(
        All,
        "tests of the core and the transparent allocator, default features",
        "cargo test --package ebbtide --package ebbtide-global",
    ),
    Step::new(
        All,
        "tests of the core, optimised",
        "cargo test --target-dir target/optimised --profile optimised --package ebbtide --tests",
    )
    .beside("optimised"),
    Step::new(All, "the core and bumpalo's interface, on Rust beta", "bash ci/beta.sh")
        .needs(&[BETA])
        .beside("beta"),
    Step::new(All, "oldest versions of dependencies", "bash ci/minimal-versions.sh")
        .needs(&[NIGHTLY]),
    Step::new(
        All,
        "licences, duplicates and sources of dependencies",
        "cargo deny check bans licenses sources",
    )
    .needs(&[DENY]),
    Step::new(All, "Python package, installed", "bash ci/python.sh installed").needs(&[PYTHON]),
    Step::new(All, "documentation as docs.rs builds it", "bash ci/docsrs.sh")
        .needs(&[NIGHTLY])
        .beside("docsrs"),
    Step::new(
        All,
        "the book, and its links",
        "cargo test --package xtask --test all book:: -- --ignored",
    )
    .needs(&[MDBOOK]),
    Step::new(All, "the API since the last release", "bash ci/semver.sh").needs(&[SEMVER]),
    Step::new(All, "Windows, under Wine", "bash ci/platforms.sh windows").needs(&[WINE]),
    Step::new(All, "32 bits", "bash ci/platforms.sh 32-bit").needs(&[MULTILIB]),
    Step::new(All, "aarch64, under QEMU", "bash ci/platforms.sh aarch64").needs(&[QEMU]),
    Step::new(All, "WebAssembly", "bash ci/platforms.sh wasm").needs(&[NODE]),
    Step::new(All, "FreeBSD and macOS, compiled only", "bash ci/platforms.sh unix").needs(&[UNIX]),
    Step::new(
        All,
        "fast paths and those of other arenas",
        "cargo test --package ebbtide-codegen --test pinned -- --ignored",
    )
    .needs(&[AARCH64]),
    Step::new(
        All,
        "memory of programs with scopes and without",
        "cargo run --release --quiet --package ebbtide-soak -- --check",
    )
    .alone(),
    Step::new(All, "Julia package, threads and bounds checks", "bash ci/julia.sh more")
        .needs(&[JULIA])
        .beside("julia"),
    Step::new(All, "the transparent allocator, with AddressSanitizer", "bash ci/asan.sh transparent")
        .needs(&[NIGHTLY])
        .beside("asan"),
    Step::new(
        All,
        "the standard library's collections in a scope, with AddressSanitizer",
        "bash ci/asan.sh --features nightly allocator::",
    )
    .needs(&[NIGHTLY])
    .beside("asan"),
    Step::new(All, "ThreadSanitizer", "bash ci/tsan.sh").needs(&[NIGHTLY]).beside("tsan"),
    Step::new(All, "Valgrind", "bash ci/valgrind.sh").needs(&[VALGRIND]),
    Step::new(
        All,
        "instructions of n steps",
        "cargo test --release --package ebbtide --package ebbtide-global --features ebbtide/full \
         --test complexity -- --ignored --nocapture",
    )
    .needs(&[VALGRIND]),
    Step::new(
        All,
        "instructions of small arenas, beside bumpalo's",
        "cargo --config benches/.cargo/config.toml run --release --quiet \
         --manifest-path benches/Cargo.toml --bin curve -- --step 256",
    )
    .needs(&[VALGRIND])
    .beside("benches"),
    Step::new(
        All,
        "the C interface under Valgrind: guards, instructions",
        "cargo test --release --package ebbtide-capi --test all -- --ignored --nocapture \
         --skip hooks:: --skip polymorphic",
    )
    .needs(&[VALGRIND, GDB]),
    Step::new(All, "Debian packages of the C library", "bash ci/packaging.sh debian")
        .needs(&[DEBHELPER])
        .beside("packaging"),
    Step::new(All, "Conan package of the C library", "bash ci/packaging.sh conan")
        .needs(&[CONAN])
        .beside("packaging"),
    Step::new(
        All,
        "libraries with their memory in scopes",
        "cargo test --release --package ebbtide-capi --test all -- --ignored hooks:: polymorphic",
    )
    .needs(&[HOOKED, CLANG, OTHER_PMR]),
    Step::new(
        All,
        "instructions of programs in transparent arenas of C++",
        "cargo test --release --package ebbtide-new --test all counts:: -- --ignored --nocapture",
    )
    .needs(&[VALGRIND, NLOHMANN, CPP_LIBRARIES, ALLOCATORS]),
    Step::new(
        All,
        "line coverage of the core",
        "bash ci/coverage.sh --summary-only --fail-under-lines 95",
    )
    .needs(&[LLVM_COV, LLVM_TOOLS]),
    Step::new(All, "hashbrown's tests, with its tables in a scope", "bash ci/others/hashbrown.sh")
        .beside("others"),
    Step::new(All, "tests of bumpalo and typed-arena, on ours", "bash ci/others/same.sh")
        .beside("others"),
    Step::new(All, "tests of crates moved over to ebbtide", "bash ci/others/moved.sh")
        .beside("others"),
    Step::new(All, "nlohmann-json's tests, each in a transparent arena", "bash ci/others/new.sh")
        .needs(&[NLOHMANN_SUITE]),
    Step::new(All, "other crates' tests in transparent scopes", "bash ci/others/global.sh"),
    Step::new(
        All,
        "libstdc++'s tests of memory resources, with ours",
        "bash ci/others/libstdcxx.sh",
    )
    .needs(&[LIBSTDCXX]),
    Step::new(All, "fuzzing, a minute for each target", "bash ci/fuzz.sh 60")
        .needs(&[NIGHTLY])
        .beside("fuzz"),
    Step::new(All, "loom models, three preemptions", "LOOM_MAX_PREEMPTIONS=3 bash ci/loom.sh")
        .beside("loom"),
    Step::new(All, "mutants of the core", "bash ci/mutants.sh").needs(&[MUTANTS]).alone(),
];
