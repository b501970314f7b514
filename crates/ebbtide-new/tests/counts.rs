//! Claim: programs that are unaware of arenas execute fewer instructions in one, by at least the
//! ratios listed here, and hardly more if no scope is open. Counted by Valgrind on x86-64 with GCC:
//! `cargo test --release -p ebbtide-new --test all counts:: -- --ignored --nocapture`.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use crate::common::{Program, collected, has};
use crate::objects::objects;

/// For each program, the minimum of its instructions with glibc ÷ those in an arena.
const LEAST: [(&str, f64); 7] = [
    ("json", 1.25),
    ("json_round_trip", 1.18),
    ("json_small", 1.10),
    ("regex", 1.03),
    ("group", 1.28),
    ("ast", 1.8),
    ("split", 1.5),
];

/// The instructions of one iteration: the difference between two runs, which excludes start and
/// end.
fn instructions(program: &Program, arguments: &[&str]) -> f64 {
    let count = |turns: &str| {
        let arguments = [&arguments[..1], &[turns], &arguments[1..]].concat();
        collected(program.path(), &arguments)
    };
    (count("4") - count("2")) / 2.0
}

#[test]
#[ignore = "takes minutes, and needs Valgrind"]
fn programs_execute_fewer_instructions_in_an_arena() {
    if !has("nlohmann/json.hpp", "nlohmann-json3-dev") {
        return;
    }
    let flags = ["-std=c++17", "-O2", "-DNDEBUG"];
    let plain = Program::compile("g++", "cpp/programs.cpp", &flags);
    let objects = objects("g++", &["-O2"], "counts");
    let more = [&objects[0], &objects[1], crate::common::library().to_str().unwrap()];
    let ours = [&flags[..], &["-DTRANSPARENT"]].concat();
    let ours = Program::compile_with("g++", "cpp/programs.cpp", &ours, &more);
    let mut logarithms = 0.0;
    for (name, least) in LEAST {
        let glibc = instructions(&plain, &[name]);
        let ratio = glibc / instructions(&ours, &[name]);
        let outside = instructions(&ours, &[name, "outside"]) / glibc;
        println!("{name:16} {ratio:5.2} in an arena; outside {outside:6.3} of glibc's");
        assert!(ratio >= least, "{name}: {ratio:.3} instead of {least}");
        assert!(outside <= 1.03, "{name}: {outside:.3} where no scope is open");
        logarithms += ratio.ln();
    }
    let mean = (logarithms / 7.0).exp();
    println!("{:16} {mean:5.2}", "geometric mean");
    assert!(mean >= 1.3, "{mean}");
}
