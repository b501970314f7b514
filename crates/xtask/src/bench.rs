//! `cargo xtask bench`: every measurement, the record in docs/records, the plots and the tables of the pages.

use crate::{Failure, process};

const RECORDS: &str = "docs/records";

/// The flags that cargo finds by itself where it is called in `benches/`.
const CARGO_RUN: &str = "cargo --config benches/.cargo/config.toml run --release --quiet";

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let quick = match arguments {
        [] => "",
        [flag] if flag == "--quick" => "--quick",
        _ => return Err(Failure::Usage(format!("not understood: bench {}", arguments.join(" ")))),
    };
    // What is quick is for the eye: the record and the pages stay what a full run made them.
    let records = if quick.is_empty() { RECORDS } else { "target/bench" };
    std::fs::create_dir_all(records).map_err(|error| {
        eprintln!("{records}: {error}");
        Failure::Work
    })?;

    let program =
        |name: &str| format!("{CARGO_RUN} --manifest-path benches/Cargo.toml --bin {name} --");
    if process::succeeds("valgrind --version") {
        step(&format!("{} --csv {records}/counts.csv", program("counts")))?;
    } else {
        println!("counts: left out, valgrind is missing");
    }
    for (name, record) in
        [("ebbtide-benches", "suite"), ("table", "stumpalo-table"), ("scaling", "scaling")]
    {
        step(&format!("{} {quick} --csv {records}/{record}.csv", program(name)))?;
    }
    let transparent = format!("{CARGO_RUN} --manifest-path benches/transparent/Cargo.toml --");
    step(&format!("{transparent} {quick} --csv {records}/transparent.csv"))?;
    if quick.is_empty() { step(&program("page")) } else { Ok(()) }
}

fn step(line: &str) -> Result<(), Failure> {
    println!("$ {line}");
    match process::run(line, |_| ()) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            eprintln!("{status}: {line}");
            Err(Failure::Work)
        }
        Err(error) => {
            eprintln!("{error}: {line}");
            Err(Failure::Work)
        }
    }
}
