//! The processors whose assembly is pinned, and how to read it.

use std::{path::Path, process::Command};

/// A processor that the crate is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    X86_64,
    Aarch64,
}

/// The mnemonic and the text of its operands.
pub(crate) fn split(instruction: &str) -> (&str, &str) {
    instruction.split_once('\t').unwrap_or((instruction, ""))
}

/// Whether this is an instruction, not a marker around inline assembly.
pub(crate) fn is_code(instruction: &str) -> bool {
    !instruction.starts_with(['#', '/'])
}

impl Machine {
    /// The name of the compiler's target.
    pub(crate) fn target(self) -> &'static str {
        match self {
            Machine::X86_64 => "x86_64-unknown-linux-gnu",
            Machine::Aarch64 => "aarch64-unknown-linux-gnu",
        }
    }

    /// The folder with the recorded assembly.
    pub(crate) fn folder(self) -> &'static Path {
        Path::new(match self {
            Machine::X86_64 => "asm/x86_64",
            Machine::Aarch64 => "asm/aarch64",
        })
    }

    /// Whether the standard library for this target is installed.
    pub(crate) fn is_installed(self) -> bool {
        let output = Command::new("rustc")
            .args(["--print", "target-libdir", "--target", self.target()])
            .output()
            .expect("rustc runs");
        let folder = String::from_utf8_lossy(&output.stdout);
        output.status.success() && Path::new(folder.trim()).is_dir()
    }

    pub(crate) fn is_return(self, instruction: &str) -> bool {
        split(instruction).0 == ["retq", "ret"][self as usize]
    }

    /// Whether this is a jump, including those that leave the function.
    pub(crate) fn is_jump(self, instruction: &str) -> bool {
        let (mnemonic, _) = split(instruction);
        match self {
            Machine::X86_64 => mnemonic.starts_with('j'),
            Machine::Aarch64 => {
                mnemonic.starts_with("b.")
                    || ["b", "br", "cbz", "cbnz", "tbz", "tbnz"].contains(&mnemonic)
            }
        }
    }

    pub(crate) fn is_unconditional(self, instruction: &str) -> bool {
        let (mnemonic, _) = split(instruction);
        match self {
            Machine::X86_64 => mnemonic.starts_with("jmp"),
            Machine::Aarch64 => ["b", "br"].contains(&mnemonic),
        }
    }

    /// The label that a jump names.
    pub(crate) fn label(self, jump: &str) -> &str {
        split(jump).1.rsplit(", ").next().unwrap_or_default()
    }

    pub(crate) fn is_call(self, instruction: &str) -> bool {
        let (mnemonic, _) = split(instruction);
        match self {
            Machine::X86_64 => mnemonic.starts_with("call"),
            Machine::Aarch64 => ["bl", "blr"].contains(&mnemonic),
        }
    }

    /// The register that a call takes the function's address from.
    pub(crate) fn called_register(self, call: &str) -> Option<&str> {
        call.strip_prefix(["callq\t*%", "blr\t"][self as usize])
    }

    /// Whether an instruction loads a register with the address of a function.
    pub(crate) fn loads_function(self, register: &str, instruction: &str) -> bool {
        match self {
            Machine::X86_64 => instruction.ends_with(&format!("@GOTPCREL(%rip), %{register}")),
            Machine::Aarch64 => {
                instruction.starts_with(&format!("ldr\t{register}, ["))
                    && instruction.contains(":got_lo12:")
            }
        }
    }

    /// Whether an instruction makes room on the stack, saves a register there, or calls a function
    /// that returns here.
    pub(crate) fn needs_frame(self, instruction: &str) -> bool {
        self.is_call(instruction)
            || match self {
                Machine::X86_64 => instruction.starts_with("push"),
                Machine::Aarch64 => {
                    instruction.starts_with("st") && instruction.contains("[sp")
                        || instruction.starts_with("sub\tsp")
                }
            }
    }

    /// Whether an instruction stores to the stack, other than to save a register that belongs to
    /// the caller.
    pub(crate) fn is_stack_store(self, instruction: &str) -> bool {
        let (mnemonic, operands) = split(instruction);
        match self {
            Machine::X86_64 => {
                let base = operands.rsplit('(').next().unwrap_or_default();
                mnemonic.contains("mov")
                    && operands.ends_with(')')
                    && (base.starts_with("%rsp") || base.starts_with("%rbp"))
            }
            Machine::Aarch64 => {
                let Some((stored, address)) = operands.split_once(", [") else { return false };
                let to_stack = ["sp", "x29"].iter().any(|base| {
                    address.strip_prefix(base).is_some_and(|rest| rest.starts_with([',', ']']))
                });
                // A zero at the end of a large frame makes sure that the stack has memory there.
                let is_probe = instruction == "str\txzr, [sp]";
                let is_save = stored.split(", ").all(is_callers);
                mnemonic.starts_with("st") && to_stack && !is_probe && !is_save
            }
        }
    }

    /// Whether an instruction passes a stack address as the first argument of a call.
    pub(crate) fn passes_stack(self, instruction: &str) -> bool {
        match self {
            Machine::X86_64 => {
                instruction.starts_with("leaq\t")
                    && instruction.contains("(%rsp")
                    && instruction.ends_with(", %rdi")
            }
            Machine::Aarch64 => ["mov\tx0, sp", "add\tx0, sp, ", "sub\tx0, x29, "]
                .iter()
                .any(|form| instruction.starts_with(form)),
        }
    }

    /// Whether an instruction clears bits, as rounding does.
    pub(crate) fn is_rounding(self, instruction: &str) -> bool {
        split(instruction).0 == ["andq", "and"][self as usize]
    }

    /// Whether an instruction adds to several 32-bit integers at once.
    pub(crate) fn adds_several(self, instruction: &str) -> bool {
        match self {
            // Subtracts minus one, for that is a register of ones.
            Machine::X86_64 => ["psubd", "paddd"].contains(&split(instruction).0),
            Machine::Aarch64 => {
                ["add\tv", "sub\tv"].iter().any(|form| instruction.starts_with(form))
                    && instruction.contains(".4s")
            }
        }
    }
}

/// Whether a register of aarch64 is callee-saved.
fn is_callers(register: &str) -> bool {
    let (kind, number) = register.split_at(register.len().min(1));
    let number: u32 = number.parse().unwrap_or(u32::MAX);
    kind == "x" && (19..=30).contains(&number) || kind == "d" && (8..=15).contains(&number)
}
