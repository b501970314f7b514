//! `cargo xtask bench`: runs every benchmark, then updates the records, plots and tables in docs/.

use crate::{
    Failure,
    process::{self, step},
};

const RECORDS: &str = "dev/records";

/// Cargo reads this configuration by itself only when it is called in `benches/`.
const CARGO_RUN: &str = "cargo --config benches/.cargo/config.toml run --release --quiet";

/// The seconds for which each server is loaded: for the record, and in a quick run.
const SERVER_SECONDS: [u32; 2] = [600, 6];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let program =
        |name: &str| format!("{CARGO_RUN} --manifest-path benches/Cargo.toml --bin {name} --");
    let page = program("page");
    let server = format!("{CARGO_RUN} --manifest-path benches/server/Cargo.toml --");
    let transparent = format!("{CARGO_RUN} --manifest-path benches/transparent/Cargo.toml --");
    let litter = format!("{transparent} --litter");
    let quick = match arguments {
        [only, rest @ ..] if only == "server" => {
            return step(&format!("{server} {}", rest.join(" ")));
        }
        [only] if only == "tables" => return step(&page),
        [only] if only == "litter" => {
            step(&format!("{litter} --csv {RECORDS}/litter.csv"))?;
            return step(&page);
        }
        [only, rest @ ..] if only == "litter" => {
            return step(&format!("{litter} {}", rest.join(" ")));
        }
        [] => "",
        [flag] if flag == "--quick" => "--quick",
        _ => {
            return Err(Failure::Usage(format!(
                "unknown arguments: bench {}",
                arguments.join(" ")
            )));
        }
    };
    // A quick run does not replace the records of a full run.
    let records = if quick.is_empty() { RECORDS } else { "target/bench" };
    std::fs::create_dir_all(records).map_err(|error| {
        eprintln!("{records}: {error}");
        Failure::Work
    })?;

    if process::succeeds("valgrind --version") {
        step(&format!("{} --csv {records}/counts.csv", program("counts")))?;
        step(&format!("{} --step 1024 --csv {records}/curve.csv", program("curve")))?;
    } else {
        println!("left out: counts and curve, because Valgrind is missing");
    }
    let suite =
        [("ebbtide-benches", "suite"), ("collections", "collections"), ("scaling", "scaling")];
    for (name, record) in suite {
        step(&format!("{} {quick} --csv {records}/{record}.csv", program(name)))?;
    }
    if quick.is_empty() {
        step(&format!("{} --csv {records}/development.csv", program("development")))?;
    }
    // On beta, until the stable compiler is 1.100.
    if process::succeeds("cargo +beta --version") {
        let beta = program("standard").replacen("cargo", "cargo +beta", 1);
        step(&format!("{beta} {quick} --csv {records}/standard.csv"))?;
    } else {
        println!(
            "left out: the standard library's collections, because the beta toolchain is missing"
        );
    }
    // One of the two needs a nightly compiler.
    if process::succeeds("cargo +nightly --version") {
        step(&format!("{} {quick} --csv {records}/harnesses.csv", program("harnesses")))?;
    } else {
        println!("left out: the peers' own harnesses, because the nightly toolchain is missing");
    }
    if process::succeeds("clang --version") && process::succeeds("g++ --version") {
        let c = format!("{CARGO_RUN} --manifest-path benches/c/Cargo.toml --");
        step(&format!("{c} {quick} --csv {records}/c.csv"))?;
    } else {
        println!("left out: C and C++, because clang or g++ is missing");
    }
    step(&format!("{litter} {quick} --csv {records}/litter.csv"))?;
    step(&format!("{transparent} {quick} --csv {records}/transparent.csv"))?;
    let seconds = SERVER_SECONDS[usize::from(!quick.is_empty())];
    step(&format!("{server} --seconds {seconds} --csv {records}"))?;
    if quick.is_empty() { step(&page) } else { Ok(()) }
}
