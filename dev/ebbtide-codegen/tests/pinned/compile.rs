//! The assembly of this crate's functions.

use crate::{COLD, machine::Machine};
use std::{collections::BTreeMap, env, fs, path::Path, process::Command, sync::LazyLock};

/// The body of each function by its name, with one instruction or label per line.
pub(crate) type Functions = BTreeMap<String, String>;

/// What an arena does out of line, once for each function that calls it.
const OUT_OF_LINE: &str = "_ZN7ebbtide7in_root11out_of_lineE";

/// The out-of-line continuation that clones many elements.
const PARTS: [(&str, &str); 1] = [("_ZN7ebbtide4copy10clone_manyE", "clone_many")];

static X86_64: LazyLock<Option<Functions>> = LazyLock::new(|| compile(Machine::X86_64));
static AARCH64: LazyLock<Option<Functions>> = LazyLock::new(|| compile(Machine::Aarch64));

/// The functions as compiled for a machine. `None`, and a message, if its standard library is not
/// installed.
pub(crate) fn functions(machine: Machine) -> Option<&'static Functions> {
    let functions = match machine {
        Machine::X86_64 => &X86_64,
        Machine::Aarch64 => &AARCH64,
    };
    if functions.is_none() {
        println!("left out; `rustup target add {}` installs what is needed", machine.target());
    }
    functions.as_ref()
}

fn compile(machine: Machine) -> Option<Functions> {
    if !machine.is_installed() {
        return None;
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pinned");
    let files = target.join(machine.target()).join("release/deps");
    let _ = fs::remove_dir_all(&files);
    let made = |name: &str, selection: &[&str]| {
        emit(machine, Path::new("Cargo.toml"), &target, selection);
        find(&assembly(&files, name))
    };
    let mut all = made("ebbtide_codegen", &["--lib"]);
    let program = made("transparent", &["--bin", "transparent"]);
    all.extend(program.into_iter().filter(|(name, _)| name.starts_with("transparent_")));
    Some(all)
}

/// The fast paths of other arenas, by the name of the arena, two underscores, and the name of the
/// function here.
pub(crate) fn peers(machine: Machine) -> Option<Functions> {
    if !machine.is_installed() {
        return None;
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers");
    let files = target.join(machine.target()).join("release/deps");
    let _ = fs::remove_dir_all(&files);
    emit(machine, Path::new("../../benches/codegen/Cargo.toml"), &target, &["--lib"]);
    Some(find(&assembly(&files, "ebbtide_peers_codegen")))
}

/// Compiles a target of a package to assembly.
fn emit(machine: Machine, manifest: &Path, target: &Path, selection: &[&str]) {
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["rustc", "--quiet", "--release", "--target", machine.target(), "--manifest-path"])
        .arg(manifest)
        .args(selection)
        .arg("--target-dir")
        .arg(target)
        // Nothing is linked: a program that does nothing stands in for the linker.
        .args(["--", "--emit=asm", "-Cdebuginfo=0", "-Ccodegen-units=1", "-Clinker=true"])
        .env_remove("RUSTFLAGS")
        .status();
    assert!(status.is_ok_and(|status| status.success()), "the functions do not compile");
}

/// The assembly file whose name begins with `name`.
fn assembly(folder: &Path, name: &str) -> String {
    let is_it = |path: &Path| {
        let file = path.file_stem().unwrap_or_default().to_string_lossy();
        path.extension().is_some_and(|extension| extension == "s") && file.starts_with(name)
    };
    let file = fs::read_dir(folder)
        .expect("the compiler made files")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| is_it(path))
        .expect("one of them is assembly");
    fs::read_to_string(file).expect("it is text")
}

/// Takes the functions out of an assembly file, without directives and hashes.
fn find(assembly: &str) -> Functions {
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
            if name == OUT_OF_LINE {
                current = Some((format!("{COLD}{}", functions.len()), String::new()));
            } else if part.is_some() || is_own {
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

/// The version of the compiler, as one line.
pub(crate) fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output().expect("rustc runs");
    String::from_utf8(output.stdout).expect("rustc writes UTF-8")
}
