//! A change that costs a fast path an instruction shows here, be it the core's or the transparent allocator's.
//!
//! The assembly of each function of this crate is compared with what `asm/` holds, for the compiler that
//! `asm/compiler.txt` names; the claims in numbers hold for every compiler. `cargo xtask bless` writes
//! what the compiler makes now; look at the difference before you commit it.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]
#![allow(clippy::expect_used, reason = "in a test, a panic is how a failure is told")]

mod paths;

use std::{collections::BTreeMap, env, fs, path::Path, process::Command, sync::LazyLock};

/// Where the transparent calls go on in a scope that lists what it frees.
const PARTS: [(&str, &str); 2] = [
    ("_ZN14ebbtide_global6scoped6listedE", "transparent_alloc_listed"),
    ("_ZN14ebbtide_global6thread11free_listedE", "transparent_dealloc_listed"),
];

/// Functions that are looked at, and not recorded.
const MOVED: &str = "moved_";

/// The body of each function by its name, an instruction or a label a line.
static FUNCTIONS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pinned");
    let _ = fs::remove_dir_all(target.join("release/deps"));
    let mut all = functions(&assembly(&target, "ebbtide_codegen", &["--lib"]));
    let program = functions(&assembly(&target, "transparent", &["--bin", "transparent"]));
    all.extend(program.into_iter().filter(|(name, _)| name.starts_with("transparent_")));
    all
});

/// What the compiler makes of a target of this package; its file begins with `name`.
fn assembly(target: &Path, name: &str, selection: &[&str]) -> String {
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["rustc", "--quiet", "--release", "--package", "ebbtide-codegen"])
        .args(selection)
        .arg("--target-dir")
        .arg(target)
        .args(["--", "--emit=asm", "-Cdebuginfo=0", "-Ccodegen-units=1"])
        .env_remove("RUSTFLAGS")
        .status();
    assert!(status.is_ok_and(|status| status.success()), "the functions do not compile");
    let is_it = |path: &Path| {
        let file = path.file_stem().unwrap_or_default().to_string_lossy();
        path.extension().is_some_and(|extension| extension == "s") && file.starts_with(name)
    };
    let file = fs::read_dir(target.join("release/deps"))
        .expect("the compiler made files")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| is_it(path))
        .expect("one of them is assembly");
    fs::read_to_string(file).expect("it is text")
}

/// Takes the functions out of an assembly file, without directives and hashes.
fn functions(assembly: &str) -> BTreeMap<String, String> {
    let mut functions = BTreeMap::new();
    let mut current: Option<(String, String)> = None;
    for line in assembly.lines() {
        let indented = line.starts_with(['\t', ' ']);
        if line.starts_with(".Lfunc_end") {
            functions.extend(current.take());
        } else if let Some((_, body)) = &mut current {
            let directive = indented && line.trim_start().starts_with('.');
            if !directive {
                body.push_str(&without_hash(line));
                body.push('\n');
            }
        } else if let Some(name) = line.strip_suffix(':') {
            let name = without_hash(name);
            let part = PARTS.iter().find(|(symbol, _)| *symbol == name);
            let is_own = !(name.starts_with(['.', '_']) || name.starts_with("GCC_except_table"));
            if part.is_some() || is_own {
                let name = part.map_or(name, |(_, name)| (*name).to_owned());
                current = Some((name, String::new()));
            }
        }
    }
    functions
}

/// Removes hashes of the crate's source: `17h` and 16 digits at the end of a symbol, and the 32
/// digits in the label of a constant.
fn without_hash(line: &str) -> String {
    let without = |line: &str, mark: &str, keep: usize, len: usize| match line.find(mark) {
        Some(start) => {
            let (before, after) = line.split_at(start + keep);
            [before, after.get(len..).unwrap_or_default()].concat()
        }
        None => line.to_owned(),
    };
    without(&without(line, "17h", 0, 19), ".Lanon.", 7, 32)
}

fn body(name: &str) -> &'static str {
    FUNCTIONS.get(name).unwrap_or_else(|| panic!("the assembly has no function {name}"))
}

/// The instructions that run when the block fits: up to the first return, labels not counted.
fn fast_path(name: &str) -> usize {
    let mut instructions = body(name).lines().filter(|line| line.starts_with('\t'));
    let to_return = instructions.position(|line| line.trim() == "retq");
    to_return.expect("the function returns") + 1
}

fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output().expect("rustc runs");
    String::from_utf8(output.stdout).expect("rustc writes UTF-8")
}

#[test]
fn alloc_of_a_u64_through_a_reference_is_eight_instructions() {
    assert_eq!(fast_path("alloc_u64"), 8, "{}", body("alloc_u64"));
}

#[test]
fn alloc_of_a_u8_through_a_reference_is_seven_instructions() {
    assert_eq!(fast_path("alloc_u8"), 7, "{}", body("alloc_u8"));
}

#[test]
fn a_value_is_copied_once_from_where_it_is_to_its_block() {
    let moved = FUNCTIONS.iter().filter(|(name, _)| name.starts_with(MOVED));
    let mut looked_at = 0;
    for (name, body) in moved {
        let fast = paths::fast_path(body);
        assert!(!fast.is_empty(), "{name} has no fast path:\n{body}");
        assert_eq!(paths::stack_stores(body), [""; 0], "{name} stores to the stack:\n{body}");
        let copies = fast.iter().filter(|line| line.contains("memcpy") || line.contains("memmove"));
        assert!(copies.count() <= 1, "{name} copies twice:\n{body}");
        looked_at += 1;
    }
    assert!(looked_at >= 190, "{looked_at} functions");
}

#[test]
fn a_loop_over_a_local_scope_rounds_nothing() {
    let body = body("local_loop");
    // The turn ends with the last conditional jump backwards, to the label it begins with.
    let (turn, _) = body.split_once("callq").expect("a cold part");
    let (turn, _) = turn.rsplit_once("\tjne\t").expect("a loop");
    let label = body[turn.len() + 5..].lines().next().expect("a target");
    let (_, turn) = turn.split_once(&format!("{label}:")).expect("the target is above");
    assert!(!turn.contains("andq"), "the loop rounds:\n{turn}");
}

#[test]
fn a_slice_of_an_iterator_that_knows_its_length_takes_several_elements_a_turn() {
    // One is added as minus one is taken away, for that is a register of ones.
    let body = body("collect_slice");
    assert!(body.contains("psubd") || body.contains("paddd"), "one at a time:\n{body}");
}

#[test]
fn try_functions_have_no_way_to_a_panic() {
    for (name, body) in FUNCTIONS.iter().filter(|(name, _)| name.starts_with("try_")) {
        for call in body.lines().filter(|line| line.contains("call")) {
            let harmless =
                ["try_grow", "memcpy", "prefetch"].iter().any(|name| call.contains(name));
            assert!(harmless, "{name} calls something else: {call}");
        }
    }
}

#[test]
fn the_transparent_calls_have_no_frame_and_leave_by_jumps() {
    let calls = ["alloc", "alloc_u64", "alloc_zeroed", "dealloc", "realloc"];
    for call in calls.into_iter().chain(["alloc_listed", "dealloc_listed"]) {
        let body = body(&format!("transparent_{call}"));
        let is_framed = |line: &&str| line.starts_with("\tpush") || line.starts_with("\tcall");
        assert_eq!(body.lines().find(is_framed), None, "{call}:\n{body}");
    }
}

/// The instructions of a transparent call where no scope is open, or the block is not the engine's: the first test, and what
/// follows on it up to the jump to the inner allocator's function.
fn outside(name: &str, inner: &str) -> usize {
    let lines: Vec<&str> = body(name).lines().collect();
    let is_test = |line: &&str| line.starts_with("\tj") && !line.starts_with("\tjmp");
    let test = lines.iter().position(is_test).expect("a test");
    let leaves = |from: usize| {
        let jump = lines[from..].iter().position(|line| line.starts_with("\tjmp"))?;
        lines[from + jump].contains(inner).then_some(jump + 1)
    };
    let label = format!("{}:", lines[test].rsplit('\t').next().unwrap_or_default());
    let target = lines.iter().position(|line| *line == label);
    let ways = [leaves(test + 1), target.and_then(|target| leaves(target + 1))];
    test + 1 + ways.into_iter().flatten().min().expect("a jump to the inner allocator")
}

#[test]
fn outside_of_scopes_a_call_costs_a_test_and_a_jump() {
    assert!(outside("transparent_alloc", "malloc") <= 4, "{}", body("transparent_alloc"));
    assert!(
        outside("transparent_alloc_zeroed", "calloc") <= 5,
        "{}",
        body("transparent_alloc_zeroed")
    );
    assert!(outside("transparent_dealloc", "free") <= 7, "{}", body("transparent_dealloc"));
    assert!(outside("transparent_realloc", "realloc") <= 8, "{}", body("transparent_realloc"));
}

fn pinned() -> impl Iterator<Item = (&'static String, &'static String)> {
    FUNCTIONS.iter().filter(|(name, _)| !name.starts_with(MOVED))
}

#[test]
fn assembly_is_as_recorded() {
    let folder = Path::new("asm");
    let record = |name: &str| folder.join(name);
    if env::var_os("EBBTIDE_BLESS").is_some() {
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            fs::remove_file(entry.expect("an entry").path()).expect("the folder can be written");
        }
        fs::write(record("compiler.txt"), compiler()).expect("the folder can be written");
        for (name, body) in pinned() {
            fs::write(record(&format!("{name}.s")), body).expect("the folder can be written");
        }
        return;
    }
    let recorded = fs::read_to_string(record("compiler.txt")).expect("the record can be read");
    if recorded != compiler() {
        println!("the record is of {recorded}, this is {}: not compared", compiler());
        return;
    }
    for (name, body) in pinned() {
        let recorded = fs::read_to_string(record(&format!("{name}.s"))).unwrap_or_default();
        assert_eq!(*body, recorded, "{name} has changed; `cargo xtask bless` records it");
    }
}
