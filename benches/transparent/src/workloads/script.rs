//! Compiles and runs a rhai script with strings, arrays and maps.

use rhai::Engine;

const SCRIPT: &str = r#"
    fn collatz(n) {
        let steps = 0;
        while n != 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps
    }
    let names = [];
    let longest = #{ n: 0, steps: 0 };
    for n in 1..60 {
        let steps = collatz(n);
        names.push("number " + n + " takes " + steps);
        if steps > longest.steps { longest = #{ n: n, steps: steps }; }
    }
    let total = 0;
    for name in names { total += name.len; }
    longest.n * 100000 + longest.steps * 100 + total % 100
"#;

pub(super) fn scripts() -> impl Fn() -> u64 {
    let engine = Engine::new();
    move || once(&engine)
}

/// The number below 60 with the longest sequence, its length, and a digest of the names.
#[inline(never)]
fn once(engine: &Engine) -> u64 {
    let number: i64 = engine.eval(SCRIPT).expect("it is a script");
    u64::try_from(number).expect("it is positive")
}
