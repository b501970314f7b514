//! The default input: the output of `cargo metadata` for a Cargo checkout, and the sources of its
//! crates.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::input::{Input, InputError, Reader};

/// Reads the checkout in which the tour runs, up to `max_bytes`.
pub(crate) fn read(max_bytes: usize) -> Result<Input, InputError> {
    let (metadata, note) = metadata().map_err(InputError::NoCheckout)?;
    let crates = crate_folders(&metadata);
    let mut reader = Reader::new(max_bytes);
    reader.add("cargo-metadata.json".to_owned(), metadata);
    for (name, folder) in &crates {
        reader.read_folder(name, folder, |path| {
            path.extension().is_some_and(|extension| extension == "rs")
        });
    }
    let mut input = reader.finish(format!(
        "cargo metadata of this checkout, and the source of its {} crates",
        crates.len()
    ))?;
    input.notes.extend(note);
    Ok(input)
}

/// The packages as `name-version`, with the folders of their sources.
fn crate_folders(metadata: &str) -> BTreeMap<String, PathBuf> {
    let metadata: Value = serde_json::from_str(metadata).unwrap_or_default();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter_map(|package| {
            let folder = Path::new(package["manifest_path"].as_str()?).parent()?.to_owned();
            let (name, version) = (package["name"].as_str()?, package["version"].as_str()?);
            Some((format!("{name}-{version}"), folder))
        })
        .collect()
}

/// The output of `cargo metadata`, and a note if it is incomplete. Tries without the network first,
/// because a checkout that was built has all it needs, and only for this platform, because others
/// may not have been fetched.
fn metadata() -> Result<(String, Option<String>), String> {
    let platform = format!("--filter-platform={}", env!("TOUR_TARGET"));
    cargo_metadata(&[&platform, "--offline"])
        .or_else(|_| cargo_metadata(&[&platform]))
        .map(|metadata| (metadata, None))
        .or_else(|_| {
            let note = "the sources of some dependencies are missing: only the crates of the \
                        workspace were read";
            Ok((cargo_metadata(&["--no-deps", "--offline"])?, Some(note.to_owned())))
        })
}

fn cargo_metadata(arguments: &[&str]) -> Result<String, String> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    cargo.args(["metadata", "--format-version=1"]).args(arguments);
    // Under `cargo run`, use the checkout that was built, whatever the current folder is.
    if let Some(folder) = env::var_os("CARGO_MANIFEST_DIR") {
        cargo.current_dir(folder);
    }
    let output = cargo.output().map_err(|error| format!("cannot run cargo metadata: {error}"))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo metadata failed: {}", reason.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
