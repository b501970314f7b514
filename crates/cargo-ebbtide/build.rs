//! Compiles the recorder as a shared library, which the program then contains.

use std::{env, error::Error, fs, path::PathBuf, process::Command};

fn main() -> Result<(), Box<dyn Error>> {
    for path in ["src/lib.rs", "src/record.rs", "src/recorder.rs", "src/recorder"] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rustc-check-cfg=cfg(ebbtide_preload)");
    let library = PathBuf::from(env::var("OUT_DIR")?).join("recorder.so");
    let target = env::var("TARGET")?;
    if !(target.starts_with("x86_64") && target.contains("linux-gnu")) {
        // The program says so when it is asked for advice.
        fs::write(library, [])?;
        return Ok(());
    }
    let status = Command::new(env::var("RUSTC")?)
        .args(["--crate-name", "ebbtide_recorder", "--crate-type", "cdylib", "--edition", "2024"])
        .args(["-C", "opt-level=3", "-C", "panic=abort", "-C", "strip=debuginfo"])
        .args(["--cfg", "ebbtide_preload", "--cap-lints", "allow", "--target", &target])
        .args(["src/lib.rs", "-o"])
        .arg(library)
        .status()?;
    if status.success() { Ok(()) } else { Err("the recorder does not compile".into()) }
}
