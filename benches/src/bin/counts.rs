//! Instructions and conditional branches per allocation, counted by Callgrind.
//!
//! A count is the difference between runs of 2 n and n iterations, divided by n. It includes the
//! loop, but nothing before and after it. Counts are exactly repeatable.

use ebbtide_benches::{
    contestants,
    harness::{hidden, observe},
    machine,
    peers::{Handle, Peer},
};
use std::{env, fs, hint::black_box, process::Command};

/// Allocations between two resets of the arena.
const BATCH: usize = 1000;
const TURNS: usize = 10;

type Function = fn(usize);

/// The operation, the contestant, and a function that runs this many batches.
fn all() -> Vec<(&'static str, &'static str, Function)> {
    let mut all: Vec<(&str, &str, Function)> = Vec::new();
    macro_rules! peers {
        ($what:literal, $function:ident $(, $more:ident)?) => {
            all.extend(contestants!(
                [Ebbtide $($more)? + Limit]
                |P| ($what, P::NAME, $function::<P> as Function)
            ))
        };
    }
    peers!("u64, local", local, EbbtideRoot);
    peers!("u64, behind a reference", behind);
    peers!("a string of 8 bytes", eight);
    peers!("a string of 3 bytes", three);
    all.sort_by_key(|(what, ..)| *what);
    all
}

fn local<P: Peer>(batches: usize) {
    let mut peer = P::with_capacity(BATCH * 16);
    for _ in 0..batches {
        let handle = peer.open();
        for n in 0..hidden(BATCH) {
            observe(handle.alloc(n as u64));
        }
    }
}

fn behind<P: Peer>(batches: usize) {
    #[inline(never)]
    fn put<'a, H: Handle<'a>>(handle: &H, value: u64) -> &'a mut u64 {
        handle.alloc(value)
    }
    let mut peer = P::with_capacity(BATCH * 16);
    for _ in 0..batches {
        let handle = peer.open();
        for n in 0..hidden(BATCH) {
            observe(put(&handle, n as u64));
        }
    }
}

fn eight<P: Peer>(batches: usize) {
    strings::<P>(batches, "eightieth");
}

fn three<P: Peer>(batches: usize) {
    strings::<P>(batches, "ebb");
}

#[inline(always)]
fn strings<P: Peer>(batches: usize, text: &str) {
    let text = black_box(&text[..text.len().min(8)]);
    let mut peer = P::with_capacity(BATCH * 16);
    for _ in 0..batches {
        let handle = peer.open();
        for _ in 0..hidden(BATCH) {
            observe(handle.alloc_str(text));
        }
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &*arguments {
        [flag, index, batches] if flag == "--run" => {
            let number = |text: &String| text.parse::<usize>().expect("a number");
            all()[number(index)].2(number(batches));
        }
        [flag, path] if flag == "--csv" => table(Some(path)),
        [] => table(None),
        _ => eprintln!("usage: counts [--csv FILE]"),
    }
}

#[allow(clippy::cast_precision_loss)]
fn table(csv: Option<&str>) {
    let mut record = machine::header() + "row,contestant,instructions,branches\n";
    let mut last = "";
    for (index, (what, name, _)) in all().into_iter().enumerate() {
        if what != last {
            println!("\n{what}");
            last = what;
        }
        let (Some(once), Some(twice)) = (count(index, TURNS), count(index, TURNS * 2)) else {
            eprintln!("cannot run valgrind");
            std::process::exit(1);
        };
        let [instructions, branches] =
            [0, 1].map(|event| (twice[event] - once[event]) as f64 / (TURNS * BATCH) as f64);
        println!("  {name:<22} {instructions:>7.2} instructions {branches:>6.2} branches");
        record += &format!("\"{what}\",\"{name}\",{instructions:.3},{branches:.3}\n");
    }
    if let Some(path) = csv
        && let Err(error) = fs::write(path, record)
    {
        eprintln!("cannot write {path}: {error}");
        std::process::exit(1);
    }
}

/// The instructions and conditional branches of a run.
fn count(index: usize, batches: usize) -> Option<[u64; 2]> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--branch-sim=yes", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe().ok()?)
        .args(["--run", &index.to_string(), &batches.to_string()])
        .output()
        .ok()?;
    // "Events    : Ir Bc Bcm Bi Bim" and "Collected : 1 2 3 4 5".
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find_map(|line| line.split_once("Collected :"))?.1;
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
    Some([numbers.next()?, numbers.next()?])
}
