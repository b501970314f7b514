//! The default input: the output of `cargo metadata` for a Cargo checkout, and the sources of its
//! crates.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::input::{Input, InputError, Reader};
use crate::json::{self, Dom};
use crate::modes::heap::json::{Builder, Value};

/// Reads the checkout in which the tour runs, up to `max_bytes`.
pub(crate) fn read(max_bytes: usize) -> Result<Input, InputError> {
    let (metadata, note) = metadata()?;
    let tree = json::parse(&metadata, &mut Builder).map_err(|error| {
        InputError::NoCheckout(format!("cargo metadata printed no JSON: {error}"))
    })?;
    let mut reader = Reader::new(max_bytes);
    reader.add("cargo-metadata.json".to_owned(), metadata);
    let crates = crate_folders(&tree);
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
fn crate_folders(metadata: &Value) -> BTreeMap<String, PathBuf> {
    let packages = metadata.get("packages").and_then(Dom::items).into_iter().flatten();
    packages
        .filter_map(|package| {
            let text = |key| package.get(key).and_then(Dom::text);
            let folder = Path::new(text("manifest_path")?).parent()?.to_owned();
            Some((format!("{}-{}", text("name")?, text("version")?), folder))
        })
        .collect()
}

/// The output of `cargo metadata`, and a note if it is incomplete. Tries without the network first,
/// because a checkout that was built has all it needs, and only for this platform, because others
/// may not have been fetched.
fn metadata() -> Result<(String, Option<String>), InputError> {
    let platform = format!("--filter-platform={}", env!("TOUR_TARGET"));
    if let Ok(metadata) =
        cargo_metadata(&[&platform, "--offline"]).or_else(|_| cargo_metadata(&[&platform]))
    {
        return Ok((metadata, None));
    }
    let note =
        "the sources of some dependencies are missing: only the crates of the workspace were read";
    match cargo_metadata(&["--no-deps", "--offline"]) {
        Ok(metadata) => Ok((metadata, Some(note.to_owned()))),
        Err(reason) => Err(InputError::NoCheckout(reason)),
    }
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
        return Err(format!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    String::from_utf8(output.stdout)
        .map_err(|error| format!("the output of cargo metadata is not text: {error}"))
}
