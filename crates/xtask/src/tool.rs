//! Programs that a step needs and that Cargo does not bring.

use crate::process;
use std::env;

/// A program, how to see whether it is there, and how to get it.
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

/// For sanitizers, which stable does not offer.
pub(crate) const NIGHTLY: Tool = Tool {
    name: "a nightly toolchain",
    probe: "rustup run nightly cargo --version",
    install: &["rustup toolchain install nightly --profile minimal"],
};

pub(crate) const VALGRIND: Tool = Tool {
    name: "Valgrind",
    probe: "valgrind --version",
    install: &["apt-get update", "apt-get install --yes valgrind"],
};

/// Why a step cannot run.
pub(crate) enum Missing {
    /// On a developer's machine: said, and left out.
    LeftOut(String),
    /// In CI, where a check that silently does not run is worse than one that fails.
    Fatal(String),
}

impl Tool {
    /// Makes sure that the tool is there; in CI by installing it.
    pub(crate) fn ensure(&self) -> Result<(), Missing> {
        if process::succeeds(self.probe) {
            return Ok(());
        }
        let advice =
            format!("{} is missing; install it with: {}", self.name, self.install.join(" && "));
        if env::var_os("CI").is_none_or(|ci| ci != "true") {
            return Err(Missing::LeftOut(advice));
        }
        for line in self.install {
            println!("$ {line}");
            if !process::run(line, |_| ()).is_ok_and(|status| status.success()) {
                return Err(Missing::Fatal(advice));
            }
        }
        if process::succeeds(self.probe) { Ok(()) } else { Err(Missing::Fatal(advice)) }
    }
}
