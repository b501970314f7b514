//! Times the core in development builds, by optimisation level: of none, of ebbtide alone, of all.
//! The times are the shortest of several runs, per operation.
//!
//! `cargo run --release --bin development -- [--csv FILE]`

use ebbtide::Arena;
use ebbtide_benches::machine;
use std::{env, error::Error, fs, hint::black_box, process::Command, time::Instant};

/// What is added to Cargo's configuration, by name.
const PROFILES: [(&str, &str); 3] = [
    ("dev", "profile.dev.opt-level=0"),
    ("dev, ebbtide at opt-level 3", "profile.dev.package.ebbtide.opt-level=3"),
    ("dev, opt-level 1", "profile.dev.opt-level=1"),
];

const OPERATIONS: u32 = 100_000;
const RUNS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments == ["--time"] {
        time();
        return Ok(());
    }
    let mut record = machine::header() + "row,profile,ns\n";
    for (name, configuration) in PROFILES {
        let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["run", "--quiet", "--config", configuration, "--manifest-path"])
            .args([concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "--bin", "development"])
            .args(["--", "--time"])
            .output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        for line in String::from_utf8(output.stdout)?.lines() {
            let (row, ns) = line.rsplit_once(' ').ok_or("a name and a time")?;
            println!("{row:<20} {name:<30} {ns:>8} ns");
            record += &format!("\"{row}\",\"{name}\",{ns}\n");
        }
    }
    match arguments.as_slice() {
        [flag, path] if flag == "--csv" => fs::write(path, record)?,
        [] => {}
        _ => return Err("usage: [--csv FILE]".into()),
    }
    Ok(())
}

/// Prints the time of each operation.
fn time() {
    let mut arena = Arena::new();
    row("allocate a u64", || {
        let s = arena.scope();
        for n in 0..OPERATIONS {
            black_box(s.alloc(u64::from(n)));
        }
    });
    row("copy a string", || {
        let s = arena.scope();
        for _ in 0..OPERATIONS {
            black_box(s.alloc_str(black_box("ebb and flow")));
        }
    });
    row("push a u64", || {
        let s = arena.scope();
        let mut values = s.vec();
        for n in 0..OPERATIONS {
            values.push(u64::from(n));
        }
        assert_eq!(values.len(), OPERATIONS as usize);
    });
}

fn row(name: &str, mut run: impl FnMut()) {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos()
    });
    let least = times.min().unwrap_or_default();
    println!(
        "{name} {}.{}",
        least / u128::from(OPERATIONS),
        least * 10 / u128::from(OPERATIONS) % 10
    );
}
