//! Times the common methods of vectors, strings and maps: ours, the standard library's on the heap,
//! bumpalo's and bump-scope's. Each iteration creates a collection, performs one operation, and
//! checks the result. `GrowVec` and `GrowString` have rows for the methods whose code differs from that
//! of `Vec` and `String`.
//!
//! All contestants have the same conditions: an arena is warm and has one chunk, and the memory of
//! an iteration is freed before the next one, in the fastest way that each contestant has (ebbtide
//! ends a scope, bumpalo and bump-scope reset, the standard library frees).
//!
//! `cargo run --release --bin collections -- [--quick] [--only TEXT] [--csv FILE]`

mod lists;
mod maps;
mod texts;
mod vectors;

use ebbtide_benches::harness::{self, Bench, Repeated, Target};
use std::{process::ExitCode, time::Duration};

/// The target for the mean of all rows: the best peer's time ÷ ours.
const LEAST_MEAN: f64 = 1.3;

fn main() -> ExitCode {
    harness::main(Duration::from_millis(1500), Duration::from_millis(250), |bench| {
        let mut rows = Rows { bench, logarithms: 0.0, count: 0 };
        for len in [4, 64, 1_024, 16_384] {
            vectors::run(&mut rows, len);
            texts::run(&mut rows, len);
            maps::run(&mut rows, len);
        }
        rows.mean();
    })
}

/// The rows of the group.
struct Rows<'b> {
    bench: &'b mut Bench,
    /// The sum of the logarithms of the rows' results.
    logarithms: f64,
    count: u32,
}

impl Rows<'_> {
    /// Measures a row; the first contestant is ours.
    fn row(&mut self, name: &str, contestants: Vec<Repeated<'_>>) {
        let name = format!("collections: {name}");
        let outcome = self.bench.repeated_row(&name, contestants, &[Target::BestPeer(1.0)]);
        if let Some(outcome) = outcome {
            self.logarithms += outcome.best.ln();
            self.count += 1;
        }
    }

    fn mean(self) {
        if self.count > 0 {
            let mean = (self.logarithms / f64::from(self.count)).exp();
            let target = format!("at least {LEAST_MEAN}");
            let what = format!("collections: geometric mean of {} rows", self.count);
            self.bench.summary(&what, &target, mean, mean >= LEAST_MEAN);
        }
    }
}

/// The contestants of a row. Each is given the allocator for its collections (none for the standard
/// library) and the code of one iteration.
#[macro_export]
macro_rules! contestants {
    (|$s:ident| $ours:expr, $std:expr, |$bump:ident| $bumpalo:expr, |$scoped:ident| $bump_scope:expr) => {{
        use ::ebbtide_benches::harness::repeated;
        let mut arena = ::ebbtide::Arena::new();
        let mut bump = ::bumpalo::Bump::new();
        let mut scoped: ::bump_scope::Bump = ::bump_scope::Bump::new();
        vec![
            repeated("ebbtide", move |turns| {
                // One chunk, as bumpalo and bump-scope have after a reset.
                arena.reset_with(::ebbtide::Retain::OneChunk);
                for _ in 0..turns {
                    #[allow(unused_mut)]
                    let mut $s = arena.scope();
                    $ours;
                }
            }),
            repeated("std", move |turns| {
                for _ in 0..turns {
                    $std;
                }
            }),
            repeated("bumpalo", move |turns| {
                for _ in 0..turns {
                    {
                        let $bump = &bump;
                        $bumpalo;
                    }
                    bump.reset();
                }
            }),
            repeated("bump-scope", move |turns| {
                for _ in 0..turns {
                    {
                        let $scoped = &scoped;
                        $bump_scope;
                    }
                    scoped.reset();
                }
            }),
        ]
    }};
}
