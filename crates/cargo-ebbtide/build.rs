//! Compiles the shared libraries that are preloaded; the program then contains them.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    for path in ["src", "../ebbtide-global/src", "../../Cargo.lock"] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!(
        "cargo::rustc-check-cfg=cfg(ebbtide_preload, values(none(), \"recorder\", \"trial\"))"
    );
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    let target = env::var("TARGET")?;
    if target.starts_with("x86_64") && target.contains("linux-gnu") {
        recorder(&folder, &target)?;
        trial(&folder, &target)
    } else {
        // The program says so when it is asked for advice.
        fs::write(folder.join("recorder.so"), [])?;
        Ok(fs::write(folder.join("trial.so"), [])?)
    }
}

fn recorder(folder: &Path, target: &str) -> Outcome {
    let mut compiler = Command::new(env::var("RUSTC")?);
    compiler
        .args(["--crate-name", "ebbtide_recorder", "--crate-type", "cdylib", "--edition", "2024"])
        .args(["-C", "opt-level=3", "-C", "panic=abort", "-C", "strip=debuginfo"])
        .args(["--cfg", "ebbtide_preload", "--cfg", "ebbtide_preload=\"recorder\""])
        .args(["--cap-lints", "allow", "--target", target, "src/lib.rs", "-o"])
        .arg(folder.join("recorder.so"));
    run(compiler)
}

/// The trial contains the engine, which has a dependency, so Cargo compiles it: as a package of its
/// own, because this one cannot have two libraries.
fn trial(folder: &Path, target: &str) -> Outcome {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let package = folder.join("trial");
    fs::create_dir_all(&package)?;
    let manifest = format!(
        "[package]\nname = \"ebbtide-trial\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [lib]\npath = {:?}\ncrate-type = [\"cdylib\"]\n\
         [dependencies]\nebbtide-global = {{ path = {:?} }}\n\
         [profile.release]\npanic = \"abort\"\nlto = true\nstrip = \"debuginfo\"\n[workspace]\n",
        here.join("src/lib.rs"),
        here.with_file_name("ebbtide-global"),
    );
    fs::write(package.join("Cargo.toml"), manifest)?;
    // The versions that this package is compiled with, which are there already.
    fs::copy(here.join("../../Cargo.lock"), package.join("Cargo.lock"))?;
    let mut cargo = Command::new(env::var("CARGO")?);
    cargo
        .args(["rustc", "--quiet", "--offline", "--release", "--target", target])
        .args(["--target-dir", "target", "--", "--cap-lints", "allow"])
        .args(["--cfg", "ebbtide_preload", "--cfg", "ebbtide_preload=\"trial\""])
        .current_dir(&package);
    // What is asked of this build does not concern a library for other programs: sanitizers,
    // coverage, lints.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let is_kept = ["CARGO_HOME", "CARGO_MAKEFLAGS"].contains(&&*name);
        let is_ours = name.starts_with("CARGO_") || name.starts_with("RUSTFLAGS");
        if (is_ours && !is_kept) || name == "RUSTC_WORKSPACE_WRAPPER" {
            cargo.env_remove(&*name);
        }
    }
    run(cargo)?;
    let built = package.join("target").join(target).join("release/libebbtide_trial.so");
    fs::copy(built, folder.join("trial.so"))?;
    Ok(())
}

fn run(mut command: Command) -> Outcome {
    if command.status()?.success() {
        return Ok(());
    }
    Err(format!("failed: {command:?}").into())
}
