//! The kinds of memory that the tour compares. A new kind is a module with a [`Memory`] and an
//! entry in [`MODES`].

pub(crate) mod heap;
pub(crate) mod scopes;
mod transparent;

use crate::input::Input;
use crate::stages::{Memory, Outcome, Stage};

/// A kind of memory.
pub(crate) struct Mode {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Runs a stage a number of times.
    pub(crate) run: fn(Stage, &Input, usize) -> Outcome,
}

impl Mode {
    const fn of<M: Memory>(name: &'static str, description: &'static str) -> Self {
        Self { name, description, run: |stage, input, passes| stage.run::<M>(input, passes) }
    }
}

/// All kinds. The first is the baseline.
pub(crate) const MODES: &[Mode] = &[
    Mode::of::<heap::Heap>(
        "heap",
        "serde_json::Value, and Vec, String and HashMap of the standard library, on the system's heap \
         (docs/BENCHMARKS.md also compares with mimalloc and other arenas)",
    ),
    Mode::of::<scopes::Scopes>(
        "scopes",
        "explicit scopes of ebbtide, holding plain values without destructors",
    ),
    Mode::of::<transparent::Transparent>(
        "transparent",
        "the unmodified heap code, with each job in a scope of the global allocator ebbtide-global",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{InputError, Reader};

    /// The input is long enough for all maps and vectors to grow.
    #[test]
    fn every_kind_of_memory_has_the_same_result() -> Result<(), InputError> {
        let mut reader = Reader::new(usize::MAX);
        let names: String = (0..500).map(|i| format!("Name{i} na_me{} ", i % 7)).collect();
        let json = format!(r#"[{{"a\u00e9\n": [null, true, -1.5e3, "{names}"]}}, {{}}, []]"#);
        for (name, text) in [("a.rs", &names), ("d.json", &json)] {
            reader.add(name.to_owned(), text.clone());
        }
        let input = reader.finish("a test".to_owned())?;
        assert_eq!(input.notes, [""; 0]);
        for stage in Stage::ALL {
            let expected = (MODES[0].run)(stage, &input, 2);
            for mode in MODES {
                let outcome = (mode.run)(stage, &input, 2);
                assert_eq!(outcome, expected, "{} with {}", stage.name(), mode.name);
            }
        }
        Ok(())
    }
}
