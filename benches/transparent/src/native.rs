//! Contestants in C and C++, from `native/`. A preloaded library litters their heaps, and those of the
//! allocators that are preloaded with it.

use crate::{Contestant, Entrant, Process, Result, Worker};
use ebbtide_transparent::workloads::{Kind, Row};
use std::{env, fs, path::Path, process::Command};

/// The programs of `crates/ebbtide-new/tests/cpp`, and those of `native/programs.c`.
pub const ROWS: &[Row] = &[
    Row::new("C++: json", Kind::Cpp, 1),
    Row::new("C++: json_round_trip", Kind::Cpp, 1),
    Row::new("C++: json_small", Kind::Cpp, 200),
    Row::new("C++: regex", Kind::Cpp, 5),
    Row::new("C++: group", Kind::Cpp, 5),
    Row::new("C++: ast", Kind::Cpp, 5),
    Row::new("C++: split", Kind::Cpp, 5),
    Row::new("C++: yaml", Kind::Cpp, 1),
    Row::new("C++: property_tree", Kind::Cpp, 1),
    Row::new("C++: xml", Kind::Cpp, 5),
    Row::new("C++: search", Kind::Cpp, 1),
    Row::new("explicit: Lua (C)", Kind::Explicit, 1),
    Row::new("explicit: cJSON (C)", Kind::Explicit, 2),
    Row::new("explicit: JSON (C)", Kind::Explicit, 5),
];

/// A contestant over the allocator of a library, or over glibc's.
pub const fn native(
    name: &'static str,
    program: &'static str,
    scopes: &'static str,
    allocator: &'static str,
) -> Contestant {
    Contestant { name, program, scopes, native: Some(allocator) }
}

pub const GLIBC: &str = "";
pub const MIMALLOC: &str = "libmimalloc.so.2";
pub const JEMALLOC: &str = "libjemalloc.so.2";

/// Builds the programs. False if something is missing.
pub fn is_available(programs: &Path) -> bool {
    let found = |allocator| {
        let output = Command::new("true").env("LD_PRELOAD", allocator).output();
        output.is_ok_and(|output| output.stderr.is_empty())
    };
    let is_available = found(MIMALLOC) && found(JEMALLOC) && build(programs).is_ok();
    if !is_available {
        println!(
            "left out: C and C++; apt-get install g++ make libmimalloc2.0 libjemalloc2 liblua5.4-dev \
             libcjson-dev nlohmann-json3-dev libyaml-cpp-dev libboost-dev libtinyxml2-dev libre2-dev"
        );
    }
    is_available
}

fn build(programs: &Path) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = folder.join("../..");
    let target = programs.join("native");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut libraries = Command::new(cargo);
    libraries.args(["build", "--release", "--quiet", "-p", "ebbtide-new", "-p", "ebbtide-capi"]);
    libraries.arg("--target-dir").arg(&target).current_dir(workspace);
    let mut make = Command::new("make");
    make.arg("--silent").arg("-C").arg(folder.join("src/native"));
    make.arg(format!("OUT={}", programs.display()));
    make.arg(format!("LIB={}", target.join("release").display()));
    for mut command in [libraries, make] {
        if !command.status()?.success() {
            return Err(format!("{command:?} failed").into());
        }
    }
    Ok(())
}

/// The command of a contestant with these libraries.
fn command(contestant: &Contestant, libraries: &str, row: &Row, programs: &Path) -> Command {
    let mut command = Command::new(programs.join(contestant.program));
    // `json` of `C++: json`, `Lua` of `explicit: Lua (C)`.
    let name = row.name.split(' ').nth(1).unwrap_or_default();
    command.args([name, &row.scopes.to_string()]).env("LD_PRELOAD", libraries);
    if contestant.scopes == "explicit" {
        command.arg("explicit");
    }
    command
}

/// The command of a contestant over this allocator. The seed determines the layout of its heap.
pub fn littered(
    (contestant, litter): &Entrant<'_>,
    allocator: &str,
    row: &Row,
    seed: u32,
    programs: &Path,
) -> Command {
    let libraries = format!("{} {allocator}", programs.join("litterer.so").display());
    let mut command = command(contestant, &libraries, row, programs);
    command.env("LITTER", format!("{seed} {litter}").trim_end());
    command
}

/// The number of blocks of each size at the peak of a contestant.
pub fn record(contestant: &Contestant, row: &Row, programs: &Path) -> Result<String> {
    let path = programs.join("native.record");
    let recorder = programs.join("recorder.so").display().to_string();
    let mut command = command(contestant, &recorder, row, programs);
    let mut recorder = Worker(Process::start(command.env("RECORD", &path))?);
    recorder.batch()?;
    recorder.0.end()?;
    Ok(fs::read_to_string(path)?)
}
