//! The kinds of memory that the tour compares. A new kind is a module with a [`Memory`] and an
//! entry in [`MODES`].

pub(crate) mod heap;
mod scopes;
mod transparent;

use crate::input::Input;
use crate::stages::{Memory, Outcome, Stage};

/// A kind of memory, as the report names it.
pub(crate) struct Mode {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Does a stage's job some number of times over.
    pub(crate) run: fn(Stage, &Input, usize) -> Outcome,
}

impl Mode {
    const fn of<M: Memory>(name: &'static str, description: &'static str) -> Self {
        Self { name, description, run: |stage, input, passes| stage.run::<M>(input, passes) }
    }
}

/// Every kind; the first is the one that the others are compared with.
pub(crate) const MODES: &[Mode] = &[
    Mode::of::<heap::Heap>(
        "heap",
        "Vec, String and HashMap of the standard library, as one writes them every day",
    ),
    Mode::of::<scopes::Scopes>(
        "scopes",
        "explicit scopes of ebbtide: plain values that lie and go together",
    ),
    Mode::of::<transparent::Transparent>(
        "transparent",
        "the heap's code as it is, each job in a scope of the global allocator ebbtide-global",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{InputError, Reader};

    /// Long enough for tables, stacks and bags to grow, and with what is odd about each format.
    #[test]
    fn every_kind_of_memory_comes_to_the_same_result() -> Result<(), InputError> {
        let mut reader = Reader::new(usize::MAX);
        let names: String =
            (0..500).map(|i| format!("Name{i} na_me{} [({{x.y}})] ", i % 7)).collect();
        let brackets = format!("{}){}", "(".repeat(300), "]".repeat(300));
        let json = format!(r#"[{{"a\u00e9\n": [null, true, -1.5e3, "{names}"]}}, {{}}, []]"#);
        for (name, text) in
            [("a.rs", &names), ("b.txt", &names), ("c.rs", &brackets), ("d.json", &json)]
        {
            reader.add(name.to_owned(), text.clone());
        }
        let input = reader.finish("a test".to_owned())?;
        assert_eq!(input.notes, [""; 0]);
        for stage in Stage::ALL {
            let expected = (MODES[0].run)(stage, &input, 2);
            for mode in MODES {
                assert_eq!(
                    (mode.run)(stage, &input, 2),
                    expected,
                    "{} with {}",
                    stage.name(),
                    mode.name
                );
            }
        }
        Ok(())
    }
}
