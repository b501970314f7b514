//! The peers' own benchmarks, with our calls beside theirs.
//!
//! stumpalo and blink-alloc ship their benchmarks in their packages. This program takes the sources
//! that cargo unpacked, adds a contestant by the edits below, and runs them five times. Each edit says how often its text must occur, so a newer release that an edit does
//! not fit is an error and not silently a different benchmark.
//!
//! Other changes:
//!
//! - In stumpalo's benchmark, the strings of bumpalo and blink-alloc share a key in the cache of
//!   results, and literals reuse the results of slices whose length is unknown. Here, each is
//!   measured separately.
//! - The times are also printed in nanoseconds, without rounding.

use ebbtide_benches::{harness::Plan, machine, spread::Spread};
use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

/// The target of each row: the best peer's time ÷ ours.
const LEAST: f64 = 0.97;

/// The target of a harness: the geometric mean over its rows.
const LEAST_MEAN: f64 = 1.3;

/// Our name in the harnesses.
const OURS: &str = "ebbtide";

/// How often a harness is run, unless `--quick`.
const RUNS: usize = 5;

/// A contestant's time in each run, in nanoseconds.
type Times = Vec<f64>;

/// The rows of a harness, in its order, each with its contestants, including ours.
#[derive(Default)]
struct Rows(Vec<(String, BTreeMap<String, Times>)>);

impl Rows {
    fn add(&mut self, row: &str, contestant: &str, nanoseconds: f64) {
        let index = self.0.iter().position(|(name, _)| name == row).unwrap_or_else(|| {
            self.0.push((row.to_owned(), BTreeMap::new()));
            self.0.len() - 1
        });
        self.0[index].1.entry(contestant.to_owned()).or_default().push(nanoseconds);
    }
}

struct Harness {
    name: &'static str,
    /// The path of its benchmark in the package's folder.
    source: &'static str,
    toolchain: &'static str,
    manifest: &'static str,
    edit: fn(&mut Source),
    read: fn(&str, &mut Rows),
}

const HARNESSES: [Harness; 2] = [
    Harness {
        name: "stumpalo",
        source: "benches/comparison.rs",
        toolchain: "+stable",
        manifest: "edition = \"2024\"\n\n[dependencies]\nblink-alloc = \"0.4\"\nbumpalo = \"3\"\nmimalloc = \"0.1\"\n\
            stumpalo = \"1.0\"\nebbtide = { path = \"EBBTIDE\" }\n",
        edit: stumpalo,
        read: read_stumpalo,
    },
    Harness {
        name: "blink-alloc",
        source: "benches/bench.rs",
        toolchain: "+nightly",
        manifest: "edition = \"2018\"\n\n[features]\ndefault = [\"nightly\"]\nnightly = []\nbench-with-counting-allocator = []\n\n\
            [dependencies]\nblink-alloc = { version = \"0.4\", features = [\"alloc\", \"sync\", \"nightly\"] }\n\
            bumpalo = { version = \"3.19\", features = [\"allocator_api\"] }\ncriterion = \"0.4\"\n\
            ebbtide = { path = \"EBBTIDE\", features = [\"nightly\"] }\n",
        edit: blink_alloc,
        read: read_blink_alloc,
    },
];

fn main() -> ExitCode {
    let plan = match Plan::from_arguments(Duration::ZERO, Duration::ZERO) {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!("{error}\nusage: [--quick] [--only ROW] [--csv FILE]");
            return ExitCode::from(2);
        }
    };
    match run(&plan) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(plan: &Plan) -> io::Result<()> {
    let mut record = machine::header()
        + "row,contestant,median_ns,p99_ns,ratio,ratio_low,ratio_high,rounds,bar,value,held\n";
    for harness in &HARNESSES {
        // `--only stumpalo:alloc_str` selects from one harness, `--only alloc_str` from each.
        let only = match plan.only.split_once(':') {
            Some((name, only)) if name == harness.name => only,
            Some(_) => continue,
            None => &plan.only,
        };
        let folder = generate(harness)?;
        let mut rows = Rows::default();
        let runs = if plan.quick { 1 } else { RUNS };
        for _ in 0..runs {
            let mut command = Command::new("cargo");
            command.arg(harness.toolchain).args(["run", "--quiet", "--release"]);
            if harness.name == "blink-alloc" {
                command.args(CRITERION).args(Some(only).filter(|only| !only.is_empty()));
            }
            let output = command
                .env("BENCH_FILTER", only)
                .current_dir(&folder)
                .stderr(Stdio::inherit())
                .output()?;
            if !output.status.success() {
                return Err(io::Error::other(format!(
                    "{}'s harness: {}",
                    harness.name, output.status
                )));
            }
            (harness.read)(&String::from_utf8_lossy(&output.stdout), &mut rows);
        }
        report(harness.name, rows, &mut record);
    }
    if let Some(path) = &plan.csv {
        fs::write(path, record)?;
    }
    Ok(())
}

/// Criterion's options; its default settings take ten times as long.
const CRITERION: [&str; 7] =
    ["--", "--bench", "--noplot", "--warm-up-time", "0.3", "--measurement-time", "1"];

/// Writes the edited harness as a package of its own, under the target folder.
fn generate(harness: &Harness) -> io::Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = unpacked(harness.name)?;
    let mut source = Source {
        text: fs::read_to_string(package.join(harness.source))?.replace("\r\n", "\n"),
        misfits: Vec::new(),
    };
    (harness.edit)(&mut source);
    if !source.misfits.is_empty() {
        return Err(io::Error::other(format!(
            "{}'s harness is not the one that the edits are for:\n{}",
            harness.name,
            source.misfits.join("\n")
        )));
    }
    let folder = here.join("target/harnesses").join(harness.name);
    fs::create_dir_all(folder.join("src"))?;
    let ours = here.join("../crates/ebbtide");
    let manifest = harness.manifest.replace("EBBTIDE", &ours.display().to_string());
    fs::write(
        folder.join("Cargo.toml"),
        format!("[workspace]\n\n[package]\nname = \"{}-harness\"\n{manifest}", harness.name),
    )?;
    fs::write(folder.join("src/main.rs"), source.text)?;
    Ok(folder)
}

/// The folder into which cargo unpacked a dependency of this workspace.
fn unpacked(name: &str) -> io::Result<PathBuf> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .stderr(Stdio::inherit())
        .output()?;
    let metadata = String::from_utf8_lossy(&output.stdout);
    metadata
        .split("\"manifest_path\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .filter_map(|manifest| Path::new(manifest).parent())
        .find(|folder| {
            let folder = folder.file_name().unwrap_or_default().to_string_lossy();
            folder.strip_prefix(name).is_some_and(|rest| {
                rest.starts_with("-") && rest[1..].starts_with(|c: char| c.is_ascii_digit())
            })
        })
        .map(Path::to_path_buf)
        .ok_or_else(|| io::Error::other(format!("cargo knows no package {name}")))
}

/// The source of a harness while it is edited.
struct Source {
    text: String,
    /// The texts that did not occur as often as expected.
    misfits: Vec<String>,
}

impl Source {
    /// Replaces a text that occurs `count` times.
    fn replace(&mut self, count: usize, from: &str, to: &str) {
        let found = self.text.matches(from).count();
        if found == count {
            self.text = self.text.replace(from, to);
        } else {
            self.misfits.push(format!("{found} times, not {count}: {from:?}"));
        }
    }

    fn insert_after(&mut self, text: &str, more: &str) {
        self.replace(1, text, &format!("{text}{more}"));
    }

    /// The complete functions of the file whose names begin with `prefix`.
    fn functions(&self, prefix: &str) -> Vec<String> {
        let start = format!("fn {prefix}");
        let found = self.text.split("\n\n").filter_map(|part| {
            let from = part
                .lines()
                .take_while(|line| !line.starts_with(&start))
                .map(|line| line.len() + 1)
                .sum();
            part.get(from..).filter(|rest| !rest.is_empty())
        });
        // A blank line would end a function here; none of these functions contains one.
        found.map(str::to_owned).collect()
    }
}

const STUMPALO_TWINS: usize = 12;

/// Adds our column to stumpalo's comparison.
fn stumpalo(source: &mut Source) {
    let twins: Vec<String> = source
        .functions("measure_stump_")
        .iter()
        .filter(|function| !function.contains("_trusted"))
        .map(|function| {
            "#[inline(never)]\n".to_owned()
                + &function
                    .replace("measure_stump_", "measure_ebbtide_")
                    .replace(
                        "let a = stumpalo::Arena::new();",
                        "let mut arena = ebbtide::Arena::new();\n        let a = arena.scope();",
                    )
                    .replace("alloc_sized_slice_copy", "alloc_slice_copy")
                    .replace("alloc_slice_lit_copy", "alloc_slice_copy")
        })
        .collect();
    if twins.len() != STUMPALO_TWINS {
        source.misfits.push(format!("{} functions, not {STUMPALO_TWINS}", twins.len()));
    }

    // The columns.
    source.insert_after("struct BenchResult {\n", "    ebbtide: Option<Duration>,\n");
    let lines: Vec<String> = source
        .text
        .lines()
        .map(|line| match line.split_once("stumpalo: fork_measure(") {
            Some((indent, rest))
                if rest.contains("measure_stump_") && !rest.contains("_trusted") =>
            {
                let ours = rest.replace("measure_stump_", "measure_ebbtide_");
                format!("{indent}ebbtide: fork_measure({ours}\n{line}")
            }
            _ => line.to_owned(),
        })
        .collect();
    source.text = lines.join("\n") + "\n";
    source.replace(
        2,
        "    BenchResult {\n        stumpalo: fork_measure(|| {\n            mean_without_outliers(&sample_with_context(\n                SAMPLES,\n                &mut stumpalo::Arena::new(),\n                &mut prepare_stump,\n                |arena| {\n                    arena.clear();\n",
        "    BenchResult {\n        ebbtide: ebbtide_clear(CLEARS),\n        stumpalo: fork_measure(|| {\n            mean_without_outliers(&sample_with_context(\n                SAMPLES,\n                &mut stumpalo::Arena::new(),\n                &mut prepare_stump,\n                |arena| {\n                    arena.clear();\n",
    );
    // Of these two, the first clears the arena, and the second also frees its memory.
    source.text = source
        .text
        .replacen("ebbtide_clear(CLEARS)", "ebbtide_clear(|arena| arena.reset())", 1)
        .replacen(
            "ebbtide_clear(CLEARS)",
            "ebbtide_clear(|arena| arena.reset_with(ebbtide::Retain::OneChunk))",
            1,
        );
    source.insert_after(
        "fn bench_reuse(v: u64) -> BenchResult {\n    BenchResult {\n",
        "        ebbtide: fork_measure(|| {\n            mean_without_outliers(&sample_with_context(\n                SAMPLES,\n                &mut ebbtide::Arena::new(),\n                &mut |arena| arena.reset(),\n                &mut |arena: &mut ebbtide::Arena| {\n                    let arena = arena.root();\n                    for _ in 0..NUM_ALLOCS {\n                        arena.alloc(v);\n                    }\n                },\n            ))\n        }),\n",
    );
    source.insert_after(
        "    print!(\"{formatted}\");\n",
        "    for (name, r) in &runner.results {\n        for (who, time) in [(\"ebbtide\", r.ebbtide), (\"stumpalo\", r.stumpalo), (\"bumpalo\", r.bumpalo), (\"blink-alloc\", r.blink)] {\n            if let Some(time) = time {\n                println!(\"row\\t{name}\\t{who}\\t{}\", time.as_nanos());\n            }\n        }\n    }\n",
    );

    // The keys and the literals.
    source.replace(
        1,
        "fn measure_bump_alloc_str(s: &str) -> Duration {\n    let cache_key = CacheKey {\n        func: \"blink::alloc_str\"",
        "fn measure_bump_alloc_str(s: &str) -> Duration {\n    let cache_key = CacheKey {\n        func: \"bump::alloc_str\"",
    );
    for (peer, arena, method) in
        [("bump", "bumpalo::Bump", "alloc_str"), ("blink", "blink_alloc::Blink", "copy_str")]
    {
        let slice = if peer == "bump" { "alloc_slice_copy" } else { "copy_slice" };
        source.replace(
            1,
            &format!("{peer}_alloc_slice(data)"),
            &format!("{peer}_alloc_slice_lit(data)"),
        );
        source.replace(
            1,
            &format!("fn measure_{peer}_alloc_str_lit(s: &[u8]) -> Duration {{\n"),
            &format!(
                "fn measure_{peer}_alloc_slice_lit<const N: usize>(data: &'static [u8; N]) -> Duration {{
    mean_without_outliers(&sample(SAMPLES, || {{
        let b = {arena}::new();
        for _ in 0..NUM_ALLOCS {{
            black_box(b.{slice}(data));
        }}
    }}))
}}

#[inline(never)]
fn measure_{peer}_alloc_str_lit<const N: usize>(data: &'static [u8; N]) -> Duration {{
    mean_without_outliers(&sample(SAMPLES, || {{
        let b = {arena}::new();
        for _ in 0..NUM_ALLOCS {{
            black_box(b.{method}(unsafe {{ std::str::from_utf8_unchecked(data) }}));
        }}
    }}))
}}

#[allow(dead_code)]
fn measure_{peer}_alloc_str_lit_as_it_was(s: &[u8]) -> Duration {{
"
            ),
        );
    }

    source.text += "
#[inline(never)]
fn ebbtide_clear(mut clear: impl FnMut(&mut ebbtide::Arena)) -> Option<Duration> {
    fn prepare_ebbtide(arena: &mut ebbtide::Arena) {
        let arena = arena.root();
        for _ in 0..NUM_ALLOCS {
            black_box(arena.alloc([0; 4024]));
        }
    }

    fork_measure(|| {
        mean_without_outliers(&sample_with_context(
            SAMPLES,
            &mut ebbtide::Arena::new(),
            &mut prepare_ebbtide,
            |arena| clear(arena),
        ))
    })
}
";
    for twin in twins {
        source.text += "\n";
        source.text += &twin;
        source.text += "\n";
    }
}

fn read_stumpalo(output: &str, rows: &mut Rows) {
    for line in output.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        if let ["row", row, contestant, nanoseconds] = cells[..] {
            rows.add(row, contestant, nanoseconds.parse().expect("a number"));
        }
    }
}

/// Adds our groups to blink-alloc's benchmark. A scope opens at the start of an iteration, and ends
/// where the peers are reset.
fn blink_alloc(source: &mut Source) {
    let mut ours = String::new();
    for name in ["alloc", "warm_up", "vec"] {
        let start = format!("fn bench_{name}<A>(");
        let Some((_, function)) = source.text.split_once(&start) else {
            source.misfits.push(format!("no function {start}"));
            continue;
        };
        let Some((function, _)) = function.split_once("\n}\n") else { continue };
        let Some((_, body)) = function.split_once("\n{\n") else { continue };
        let body = body
            .replace("    let mut alloc = A::default();\n\n    // Pre-warm", "    let mut arena = ebbtide::Arena::new();\n\n    // Pre-warm")
            .replace(
                "    (&alloc).allocate(Layout::new::<[u32; 65536]>()).unwrap();\n    alloc.reset();\n",
                "    (&arena.scope()).allocate(Layout::new::<[u32; 65536]>()).unwrap();\n",
            )
            .replace("            let alloc = A::default();\n", "            let mut arena = ebbtide::Arena::new();\n            let alloc = arena.scope();\n")
            .replace("            alloc.reset();\n", "")
            .replace("TypeId::of::<A>() != TypeId::of::<bumpalo::Bump>()", "true")
            .replace("&A>", "_>");
        let body = if name == "warm_up" {
            body
        } else {
            body.replace("b.iter(|| {\n", "b.iter(|| {\n            let alloc = arena.scope();\n")
        };
        ours +=
            &format!("fn bench_{name}_ebbtide(name: &str, c: &mut Criterion) {{\n{body}\n}}\n\n");
    }
    for name in ["alloc", "warm_up", "vec"] {
        source.insert_after(
            &format!("    bench_{name}::<bumpalo::Bump>(\"bumpalo::Bump\", c);\n"),
            &format!("    bench_{name}_ebbtide(\"ebbtide\", c);\n"),
        );
    }
    source.insert_after(
        "    bench_from_iter::<bumpalo::Bump>(\"bumpalo::Bump\", c);\n",
        "    bench_from_iter::<Ebbtide>(\"ebbtide\", c);\n",
    );
    source.replace(
        1,
        "const SIZE: usize = 17453;\n",
        &format!("const SIZE: usize = 17453;\n{BLINK_ADAPTOR}\n{ours}"),
    );
}

const BLINK_ADAPTOR: &str = "
#[derive(Default)]
struct Ebbtide(ebbtide::Arena);

impl Adaptor for Ebbtide {
    const CAN_DROP: bool = true;
    const ANY_ITER: bool = true;

    #[inline(always)]
    fn put<T: 'static>(&self, value: T) -> &mut T {
        self.0.root().alloc_leaked(value)
    }

    #[inline(always)]
    fn put_no_drop<T>(&self, value: T) -> &mut T {
        self.0.root().alloc_leaked(value)
    }

    #[inline(always)]
    fn copy_slice<T: Copy>(&self, slice: &[T]) -> &mut [T] {
        self.0.root().alloc_slice_copy(slice)
    }

    #[inline(always)]
    fn copy_str(&self, string: &str) -> &mut str {
        self.0.root().alloc_str(string)
    }

    #[inline(always)]
    fn from_iter<T: 'static>(&self, iter: impl Iterator<Item = T>) -> &mut [T] {
        self.0.root().alloc_slice_from_iter(iter)
    }

    #[inline(always)]
    fn from_iter_no_drop<T>(&self, iter: impl Iterator<Item = T>) -> &mut [T] {
        self.0.root().alloc_slice_from_iter(iter)
    }

    #[inline(always)]
    fn from_exact_size_iter_no_drop<T>(&self, iter: impl ExactSizeIterator<Item = T>) -> &mut [T] {
        self.0.root().alloc_slice_fill_iter(iter)
    }

    #[inline(always)]
    fn reset(&mut self) {
        self.0.reset();
    }
}
";

/// Criterion prints `group/contestant/row  time: [low mid high]`, the name on a line of its own if
/// it is long.
fn read_blink_alloc(output: &str, rows: &mut Rows) {
    let mut name = String::new();
    for line in output.lines() {
        let (before, times) = line.split_once("time:").map_or((line, None), |(a, b)| (a, Some(b)));
        if !before.trim().is_empty() {
            before.trim().clone_into(&mut name);
        }
        let Some(times) = times else { continue };
        let cells: Vec<&str> = times.trim().trim_matches(['[', ']']).split(' ').collect();
        let parts: Vec<&str> = name.splitn(3, '/').collect();
        let ([group, contestant, row], [_, _, middle, unit, ..]) = (&parts[..], &cells[..]) else {
            continue;
        };
        let scale = match *unit {
            "ps" => 1e-3,
            "ns" => 1.0,
            "ms" => 1e6,
            "s" => 1e9,
            _ => 1e3,
        };
        let nanoseconds: f64 = middle.parse().expect("a number");
        rows.add(&format!("{group}: {row}"), contestant, nanoseconds * scale);
    }
}

/// Prints the results of the rows, and adds them to the record.
#[allow(clippy::cast_precision_loss)]
fn report(harness: &str, Rows(rows): Rows, record: &mut String) {
    let mut best = Vec::new();
    for (row, sides) in &rows {
        let name = format!("{harness}'s harness: {row}");
        let Some(ours) = sides.get(OURS) else { continue };
        let ratio = |theirs: &Times| {
            Spread::of(theirs.iter().zip(ours).map(|(theirs, ours)| theirs / ours))
        };
        let fastest = sides
            .iter()
            .filter(|(side, _)| *side != OURS)
            .min_by(|(_, a), (_, b)| ratio(a).median.total_cmp(&ratio(b).median));
        let Some((fastest, theirs)) = fastest else { continue };
        best.push(ratio(theirs).median);
        for (side, times) in sides {
            let (time, ratio) = (Spread::of(times.iter().copied()), ratio(times));
            let is_fastest = side == fastest;
            let held = if ratio.median >= LEAST { "yes" } else { "no" };
            let verdict = if is_fastest {
                format!("at least {LEAST} against the best peer,{:.4},{held}", ratio.median)
            } else {
                ",,".to_owned()
            };
            *record += &format!(
                "\"{name}\",\"{side}\",{:.4},{:.4},{:.4},{:.4},{:.4},{},{verdict}\n",
                time.median,
                time.p99,
                ratio.median,
                ratio.low,
                ratio.high,
                times.len(),
            );
            if is_fastest {
                let Spread { median, low, high, .. } = ratio;
                println!("{name:<70} {median:>6.2}  [{low:.2}, {high:.2}] {side}");
            }
        }
    }
    if best.is_empty() {
        return;
    }
    let mean = (best.iter().map(|ratio| ratio.ln()).sum::<f64>() / best.len() as f64).exp();
    let lowest = best.iter().copied().fold(f64::INFINITY, f64::min);
    let below = best.iter().filter(|ratio| **ratio < LEAST).count();
    println!(
        "{harness}'s harness: {} rows, geometric mean {mean:.3}, lowest {lowest:.2}, {below} below {LEAST}",
        best.len()
    );
    for (what, value, target) in
        [("geometric mean", mean, LEAST_MEAN), ("the lowest row", lowest, LEAST)]
    {
        let held = if value >= target { "yes" } else { "no" };
        *record += &format!(
            "\"{harness}'s harness: {what}\",,,,{value:.4},,,,at least {target},{value:.4},{held}\n"
        );
    }
}
