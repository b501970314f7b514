//! Claim: programs that are unaware of arenas execute fewer instructions in one than with glibc, about
//! as many as with mimalloc preloaded, by the ratios listed here, and hardly more than with glibc if
//! no scope is open. Counted by Valgrind on x86-64 with GCC:
//! `cargo test --release -p ebbtide-new --test all counts:: -- --ignored --nocapture`.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use crate::common::{Program, collected, has};
use std::path::Path;

/// For each program, the minimum of its instructions with glibc, and with mimalloc, ÷ those in an
/// arena.
const LEAST: [(&str, f64, f64); 11] = [
    ("json", 1.25, 0.99),
    ("json_round_trip", 1.18, 0.99),
    ("json_small", 1.10, 0.99),
    ("regex", 1.03, 0.99),
    ("group", 1.28, 0.97),
    ("ast", 1.8, 0.97),
    ("split", 1.5, 1.02),
    ("yaml", 1.25, 0.99),
    ("property_tree", 1.16, 0.84),
    ("xml", 1.0, 0.99),
    ("search", 1.06, 0.99),
];

/// The instructions of one iteration: the difference between two runs, which excludes start and
/// end.
fn instructions(command: &[&str], arguments: &[&str]) -> f64 {
    let count = |turns: &str| {
        let arguments = [&command[1..], &arguments[..1], &[turns], &arguments[1..]].concat();
        collected(Path::new(command[0]), &arguments)
    };
    count("2") - count("1")
}

#[test]
#[ignore = "takes minutes, and needs Valgrind"]
fn programs_execute_fewer_instructions_in_an_arena() {
    let libraries = has("nlohmann/json.hpp", "nlohmann-json3-dev")
        && has("yaml-cpp/yaml.h", "libyaml-cpp-dev")
        && has("boost/property_tree/ptree.hpp", "libboost-dev")
        && has("tinyxml2.h", "libtinyxml2-dev")
        && has("re2/re2.h", "libre2-dev");
    if !libraries {
        return;
    }
    let flags = ["-std=c++17", "-O2", "-DNDEBUG", "-DLIBRARIES"];
    let needs = ["-lyaml-cpp", "-ltinyxml2", "-lre2"];
    let plain = Program::object("g++", "cpp/programs.cpp", &flags);
    let plain = Program::link("g++", &[&plain], None, &needs);
    let ours = [&flags[..], &["-DTRANSPARENT"]].concat();
    let ours = Program::compile_with("g++", "cpp/programs.cpp", &ours, &needs);
    let [plain, ours] = [&plain, &ours].map(|program| program.path().to_str().unwrap());
    let mut sums = [0.0; 3];
    println!("glibc, mimalloc and jemalloc ÷ an arena; outside ÷ glibc");
    for (name, least, least_of_mimalloc) in LEAST {
        let glibc = instructions(&[plain], &[name]);
        let [mimalloc, jemalloc] = ["libmimalloc.so.2", "libjemalloc.so.2"].map(|library| {
            instructions(&["/usr/bin/env", &format!("LD_PRELOAD={library}"), plain], &[name])
        });
        let arena = instructions(&[ours], &[name]);
        let ratios = [glibc, mimalloc, jemalloc].map(|count| count / arena);
        let outside = instructions(&[ours], &[name, "outside"]) / glibc;
        println!("{name:16} {ratios:5.2?} {outside:6.3}");
        assert!(ratios[0] >= least, "{name}: {ratios:?} instead of {least}");
        assert!(
            ratios[1] >= least_of_mimalloc,
            "{name}: {ratios:?} instead of {least_of_mimalloc}"
        );
        assert!(outside <= 1.03, "{name}: {outside:.3} where no scope is open");
        for (sum, ratio) in sums.iter_mut().zip(ratios) {
            *sum += ratio.ln();
        }
    }
    let means = sums.map(|sum| (sum / LEAST.len() as f64).exp());
    println!("{:16} {means:5.2?}", "geometric means");
    assert!(means[0] >= 1.25 && means[1] >= 0.98, "{means:?}");
}
