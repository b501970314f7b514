//! Programs that a step needs and that are not part of Cargo.

use crate::process;
use std::env;
use std::fs::File;
use std::sync::{Mutex, PoisonError};

/// How often an installation is tried: a registry may not answer at once.
const TRIES: usize = 3;

/// A program, a command that fails if it is missing, and the commands that install it. Versions are
/// in ci/fetched.
pub(crate) struct Tool {
    name: &'static str,
    probe: &'static str,
    install: &'static [&'static str],
}

pub(crate) const RUSTFMT: Tool = Tool {
    name: "rustfmt",
    probe: "cargo fmt --version",
    install: &["rustup component add rustfmt"],
};

pub(crate) const CLIPPY: Tool = Tool {
    name: "Clippy",
    probe: "cargo clippy --version",
    install: &["rustup component add clippy"],
};

/// Reads the workflows of hosted CI.
pub(crate) const ACTIONLINT: Tool = Tool {
    name: "actionlint",
    probe: "bash ci/actionlint.sh --probe",
    install: &["bash ci/actionlint.sh --install"],
};

/// For sanitizers, which stable Rust does not support.
pub(crate) const NIGHTLY: Tool = Tool {
    name: "a nightly toolchain",
    probe: "rustup run nightly cargo --version",
    install: &["rustup toolchain install nightly --profile minimal"],
};

/// The next stable compiler.
pub(crate) const BETA: Tool = Tool {
    name: "a beta toolchain",
    probe: "rustup run beta cargo --version",
    install: &["rustup toolchain install beta --profile minimal"],
};

/// The oldest compiler that the libraries promise to work with.
pub(crate) const MSRV: Tool = Tool {
    name: concat!("Rust ", env!("CARGO_PKG_RUST_VERSION")),
    probe: concat!("rustup run ", env!("CARGO_PKG_RUST_VERSION"), " cargo --version"),
    install: &[concat!(
        "rustup toolchain install ",
        env!("CARGO_PKG_RUST_VERSION"),
        " --profile minimal"
    )],
};

pub(crate) const DENY: Tool = Tool {
    name: "cargo-deny",
    probe: "cargo deny --version",
    install: &["bash ci/install.sh cargo-deny"],
};

/// Needed from the first release on.
pub(crate) const SEMVER: Tool = Tool {
    name: "cargo-semver-checks",
    probe: "bash ci/semver.sh --probe",
    install: &["bash ci/install.sh cargo-semver-checks"],
};

pub(crate) const VALGRIND: Tool = Tool {
    name: "Valgrind",
    probe: "valgrind --version",
    install: &["apt-get update", "apt-get install --yes valgrind"],
};

pub(crate) const DEBHELPER: Tool = Tool {
    name: "debhelper",
    probe: "dpkg --status debhelper pkg-config",
    install: &["apt-get update", "apt-get install --yes debhelper pkg-config"],
};

pub(crate) const CONAN: Tool = Tool {
    name: "Conan",
    probe: "conan --version",
    install: &["apt-get update", "apt-get install --yes pipx", "pipx install conan"],
};

/// For the printers of the C interface.
pub(crate) const GDB: Tool = Tool {
    name: "gdb",
    probe: "gdb --version",
    install: &["apt-get update", "apt-get install --yes gdb"],
};

pub(crate) const LLVM_COV: Tool = Tool {
    name: "cargo-llvm-cov",
    probe: "cargo llvm-cov --version",
    install: &["bash ci/install.sh cargo-llvm-cov"],
};

/// Used by [`LLVM_COV`] to read the counters.
pub(crate) const LLVM_TOOLS: Tool = Tool {
    name: "LLVM's llvm-cov",
    probe: "bash ci/llvm-tools.sh",
    install: &["bash ci/llvm-tools.sh --install"],
};

/// Builds the book.
pub(crate) const MDBOOK: Tool =
    Tool { name: "mdBook", probe: "mdbook --version", install: &["bash ci/install.sh mdbook"] };

pub(crate) const MUTANTS: Tool = Tool {
    name: "cargo-mutants",
    probe: "cargo mutants --version",
    install: &["bash ci/install.sh cargo-mutants"],
};

/// For Windows: the compiler's target, MinGW's linker, and Wine to run programs.
pub(crate) const WINE: Tool = Tool {
    name: "Wine or a compiler for Windows",
    probe: "bash ci/platforms.sh --probe windows",
    install: &["bash ci/platforms.sh --install windows"],
};

pub(crate) const MULTILIB: Tool = Tool {
    name: "a compiler for 32 bits",
    probe: "bash ci/platforms.sh --probe 32-bit",
    install: &["bash ci/platforms.sh --install 32-bit"],
};

pub(crate) const QEMU: Tool = Tool {
    name: "QEMU or a compiler for aarch64",
    probe: "bash ci/platforms.sh --probe aarch64",
    install: &["bash ci/platforms.sh --install aarch64"],
};

/// The standard library for aarch64, to compile for it without linking.
pub(crate) const AARCH64: Tool = Tool {
    name: "the standard library for aarch64",
    probe: "cargo check --quiet --package ebbtide --target aarch64-unknown-linux-gnu",
    install: &["rustup target add aarch64-unknown-linux-gnu"],
};

/// The standard library for 32 bits, to compile for it without linking.
pub(crate) const I686: Tool = Tool {
    name: "the standard library for 32 bits",
    probe: "cargo check --quiet --package ebbtide --no-default-features --target \
            i686-unknown-linux-gnu",
    install: &["rustup target add i686-unknown-linux-gnu"],
};

pub(crate) const NODE: Tool = Tool {
    name: "Node.js or a compiler for WebAssembly",
    probe: "bash ci/platforms.sh --probe wasm",
    install: &["bash ci/platforms.sh --install wasm"],
};

/// The standard library for Unixes for which the libraries are only compiled.
pub(crate) const UNIX: Tool = Tool {
    name: "the standard library for FreeBSD and macOS",
    probe: "bash ci/platforms.sh --probe unix",
    install: &["bash ci/platforms.sh --install unix"],
};

/// The tests of GCC's standard library of C++, from Debian's source package.
pub(crate) const LIBSTDCXX: Tool = Tool {
    name: "libstdc++'s test suite",
    probe: "bash ci/others/libstdcxx.sh --probe",
    install: &["apt-get update", "bash ci/others/libstdcxx.sh --install"],
};

/// The compiler of C and C++ that tests use beside GCC, and its sanitizers.
pub(crate) const CLANG: Tool = Tool {
    name: "clang",
    probe: "clang++ --version",
    install: &["apt-get update", "apt-get install --yes clang libclang-rt-dev"],
};

/// For the examples of the C interface, one of which is built with it.
pub(crate) const MESON: Tool = Tool {
    name: "Meson",
    probe: "meson --version",
    install: &["apt-get update", "apt-get install --yes meson"],
};

/// Allocators that a test of transparent arenas in C++ preloads.
pub(crate) const ALLOCATORS: Tool = Tool {
    name: "mimalloc and jemalloc",
    probe: "dpkg --status libmimalloc2.0 libjemalloc2",
    install: &["apt-get update", "apt-get install --yes libmimalloc2.0 libjemalloc2"],
};

/// Libraries in C whose allocator the examples of the C interface replace.
pub(crate) const HOOKED: Tool = Tool {
    name: "Lua, SQLite, libxml2, expat, cJSON, zlib, stb or Duktape",
    probe: "dpkg --status liblua5.4-dev libsqlite3-dev libxml2-dev libexpat1-dev libcjson-dev \
            zlib1g-dev libstb-dev duktape-dev",
    install: &[
        "apt-get update",
        "apt-get install --yes liblua5.4-dev libsqlite3-dev libxml2-dev libexpat1-dev libcjson-dev \
         zlib1g-dev libstb-dev duktape-dev",
    ],
};

/// Standard and other libraries in C++ with polymorphic allocators of their own, or none.
pub(crate) const OTHER_PMR: Tool = Tool {
    name: "libc++ or Boost.Container",
    probe: "dpkg --status libc++-dev libc++abi-dev libboost-container-dev",
    install: &[
        "apt-get update",
        "apt-get install --yes libc++-dev libc++abi-dev libboost-container-dev",
    ],
};

/// For the tests and the example of transparent arenas in C++.
pub(crate) const NLOHMANN: Tool = Tool {
    name: "nlohmann-json",
    probe: "test -e /usr/include/nlohmann/json.hpp",
    install: &["apt-get update", "apt-get install --yes nlohmann-json3-dev"],
};

/// Libraries in C++ whose instructions are counted.
pub(crate) const CPP_LIBRARIES: Tool = Tool {
    name: "yaml-cpp, Boost, tinyxml2 or RE2",
    probe: "dpkg --status libyaml-cpp-dev libboost-dev libtinyxml2-dev libre2-dev",
    install: &[
        "apt-get update",
        "apt-get install --yes libyaml-cpp-dev libboost-dev libtinyxml2-dev libre2-dev",
    ],
};

pub(crate) const NLOHMANN_SUITE: Tool = Tool {
    name: "nlohmann-json's test suite",
    probe: "bash ci/others/new.sh --probe",
    install: &["apt-get update", "bash ci/others/new.sh --install"],
};

pub(crate) const PYTHON: Tool = Tool {
    name: "Python, with pip",
    probe: "python3 -m venv --help",
    install: &["apt-get update", "apt-get install --yes python3-venv"],
};
pub(crate) const JULIA: Tool = Tool {
    name: "Julia",
    probe: "bash ci/julia.sh --probe",
    install: &["bash ci/julia.sh --install"],
};

/// Why a step cannot run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// This is not CI: the step is skipped with this message.
    LeftOut(String),
    /// In CI, a check that cannot run is an error.
    Fatal(String),
}

impl Tool {
    /// Checks for the tool, and installs it in CI. What the installation prints goes to `log`.
    pub(crate) fn ensure(&self, log: &File) -> Result<(), Missing> {
        self.ensure_where(env::var_os("CI").is_some_and(|ci| ci == "true"), log)
    }

    fn ensure_where(&self, in_ci: bool, log: &File) -> Result<(), Missing> {
        // Two installations at the same time would wait for each other's locks, or fail.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        if process::succeeds(self.probe) {
            return Ok(());
        }
        let advice =
            format!("{} is missing; install it with: {}", self.name, self.install.join(" && "));
        if !in_ci {
            return Err(Missing::LeftOut(advice));
        }
        let is_there = (0..TRIES).any(|_| self.install(log));
        if is_there { Ok(()) } else { Err(Missing::Fatal(advice)) }
    }

    fn install(&self, log: &File) -> bool {
        let installed = self
            .install
            .iter()
            .all(|line| process::run(line, log).is_ok_and(|status| status.success()));
        installed && process::succeeds(self.probe)
    }
}

#[cfg(test)]
mod tests {
    use super::{Missing, Tool};
    use std::fs::File;

    fn null() -> File {
        File::options().write(true).open(if cfg!(windows) { "NUL" } else { "/dev/null" }).unwrap()
    }

    const UNAVAILABLE: Tool = Tool { name: "it", probe: "false", install: &["true", "false"] };
    const ADVICE: &str = "it is missing; install it with: true && false";

    #[test]
    fn ci_fails_if_a_tool_cannot_be_installed_and_a_developer_skips_the_step() {
        let fatal = Err(Missing::Fatal(ADVICE.to_owned()));
        let left_out = Err(Missing::LeftOut(ADVICE.to_owned()));
        assert_eq!(UNAVAILABLE.ensure_where(true, &null()), fatal);
        assert_eq!(UNAVAILABLE.ensure_where(false, &null()), left_out);
    }

    #[test]
    fn a_tool_that_does_not_run_after_installation_is_missing() {
        let useless = Tool { install: &["true"], ..UNAVAILABLE };
        assert!(matches!(useless.ensure_where(true, &null()), Err(Missing::Fatal(_))));
        let there = Tool { probe: "true", ..UNAVAILABLE };
        assert_eq!(there.ensure_where(true, &null()), Ok(()));
    }
}
