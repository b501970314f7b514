//! Programs that a step needs and that Cargo does not bring.

use crate::process;
use std::env;

/// A program, how to see whether it is there, and how to get it.
pub(crate) struct Tool {
    name: &'static str,
    probe: &'static str,
    install: &'static [&'static str],
    /// Whether CI fails where it cannot be had; else what needs it is left out there too.
    required: bool,
}

pub(crate) const RUSTFMT: Tool = Tool {
    name: "rustfmt",
    probe: "cargo fmt --version",
    install: &["rustup component add rustfmt"],
    required: true,
};

pub(crate) const CLIPPY: Tool = Tool {
    name: "Clippy",
    probe: "cargo clippy --version",
    install: &["rustup component add clippy"],
    required: true,
};

/// For sanitizers, which stable does not offer.
pub(crate) const NIGHTLY: Tool = Tool {
    name: "a nightly toolchain",
    probe: "rustup run nightly cargo --version",
    install: &["rustup toolchain install nightly --profile minimal"],
    required: true,
};

pub(crate) const VALGRIND: Tool = Tool {
    name: "Valgrind",
    probe: "valgrind --version",
    install: &["apt-get update", "apt-get install --yes valgrind"],
    required: true,
};

pub(crate) const LLVM_COV: Tool = Tool {
    name: "cargo-llvm-cov",
    probe: "cargo llvm-cov --version",
    install: &["cargo install --locked cargo-llvm-cov@0.9.1"],
    required: false,
};

/// What [`LLVM_COV`] reads the counters with.
pub(crate) const LLVM_TOOLS: Tool = Tool {
    name: "LLVM's llvm-cov",
    probe: "bash ci/llvm-tools.sh",
    install: &["bash ci/llvm-tools.sh --install"],
    required: false,
};

pub(crate) const MUTANTS: Tool = Tool {
    name: "cargo-mutants",
    probe: "cargo mutants --version",
    install: &["cargo install --locked cargo-mutants@27.1.0"],
    required: false,
};

/// For Windows: the compiler's target, MinGW's linker, and Wine to run what they make.
pub(crate) const WINE: Tool = Tool {
    name: "Wine, with a compiler for Windows,",
    probe: "bash ci/platforms.sh --probe windows",
    install: &["bash ci/platforms.sh --install windows"],
    required: false,
};

pub(crate) const MULTILIB: Tool = Tool {
    name: "a compiler for 32 bits",
    probe: "bash ci/platforms.sh --probe 32-bit",
    install: &["bash ci/platforms.sh --install 32-bit"],
    required: false,
};

pub(crate) const NODE: Tool = Tool {
    name: "Node.js, with a compiler for WebAssembly,",
    probe: "bash ci/platforms.sh --probe wasm",
    install: &["bash ci/platforms.sh --install wasm"],
    required: false,
};

/// The standard library of Unixes that nothing runs for.
pub(crate) const UNIX: Tool = Tool {
    name: "the standard library for FreeBSD and macOS",
    probe: "bash ci/platforms.sh --probe unix",
    install: &["bash ci/platforms.sh --install unix"],
    required: false,
};

/// Why a step cannot run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// On a developer's machine, and where a tool is not required: said, and left out.
    LeftOut(String),
    /// In CI, where a check that silently does not run is worse than one that fails.
    Fatal(String),
}

impl Tool {
    /// Makes sure that the tool is there; in CI by installing it.
    pub(crate) fn ensure(&self) -> Result<(), Missing> {
        self.ensure_where(env::var_os("CI").is_some_and(|ci| ci == "true"))
    }

    fn ensure_where(&self, in_ci: bool) -> Result<(), Missing> {
        if process::succeeds(self.probe) {
            return Ok(());
        }
        let advice =
            format!("{} is missing; install it with: {}", self.name, self.install.join(" && "));
        if in_ci && self.install() {
            return Ok(());
        }
        Err(if in_ci && self.required { Missing::Fatal(advice) } else { Missing::LeftOut(advice) })
    }

    fn install(&self) -> bool {
        let installed = self.install.iter().all(|line| {
            println!("$ {line}");
            process::run(line, |_| ()).is_ok_and(|status| status.success())
        });
        installed && process::succeeds(self.probe)
    }
}

#[cfg(test)]
mod tests {
    use super::{Missing, Tool};

    const NOT_TO_BE_HAD: Tool =
        Tool { name: "it", probe: "false", install: &["true", "false"], required: true };
    const ADVICE: &str = "it is missing; install it with: true && false";

    #[test]
    fn ci_fails_where_a_required_tool_cannot_be_had_and_a_developer_goes_without() {
        let fatal = Err(Missing::Fatal(ADVICE.to_owned()));
        let left_out = Err(Missing::LeftOut(ADVICE.to_owned()));
        assert_eq!(NOT_TO_BE_HAD.ensure_where(true), fatal);
        assert_eq!(NOT_TO_BE_HAD.ensure_where(false), left_out);
        let optional = Tool { required: false, ..NOT_TO_BE_HAD };
        assert_eq!(optional.ensure_where(true), left_out);
    }

    #[test]
    fn a_tool_that_installs_and_does_not_run_is_missing() {
        let useless = Tool { install: &["true"], ..NOT_TO_BE_HAD };
        assert!(matches!(useless.ensure_where(true), Err(Missing::Fatal(_))));
        let there = Tool { probe: "true", ..NOT_TO_BE_HAD };
        assert_eq!(there.ensure_where(true), Ok(()));
    }
}
