//! `cargo xtask vendor`: a copy of a package that takes the name of the one it stands for, to patch
//! the registry with.

use crate::Failure;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let [name, folder] = arguments else {
        return Err(Failure::Usage("vendor needs a name and a folder".to_owned()));
    };
    let package = Path::new("crates").join(format!("ebbtide-{name}"));
    if !["bumpalo", "typed-arena"].contains(&name.as_str()) {
        return Err(Failure::Usage(format!("`{name}` is neither bumpalo nor typed-arena")));
    }
    let folder = Path::new(folder);
    if folder.exists() {
        return Err(Failure::Usage(format!("{} exists already", folder.display())));
    }
    copy(&package, name, folder).map_err(|error| {
        eprintln!("{}: {error}", folder.display());
        Failure::Work
    })?;
    println!("[patch.crates-io]\n{name} = {{ path = {:?} }}", absolute(folder));
    Ok(())
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn copy(package: &Path, name: &str, folder: &Path) -> io::Result<()> {
    let workspace = fs::read_to_string("Cargo.toml")?;
    let own = fs::read_to_string(package.join("Cargo.toml"))?;
    let crates = absolute(Path::new("crates"));
    copy_folder(&package.join("src"), &folder.join("src"))?;
    // The library includes its pages.
    for page in fs::read_dir(package)? {
        let page = page?.path();
        if let Some(file) = page.file_name().filter(|_| page.extension() == Some("md".as_ref())) {
            fs::copy(&page, folder.join(file))?;
        }
    }
    fs::write(folder.join("Cargo.toml"), manifest(&own, &workspace, name, &crates))
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// A package's manifest under another name, without what it has from the workspace or for its tests.
fn manifest(own: &str, workspace: &str, name: &str, crates: &Path) -> String {
    let shared = workspace.split("[workspace.package]\n").nth(1).unwrap_or_default();
    let shared = |key: &str| {
        let mut lines = shared.lines().take_while(|line| !line.starts_with('['));
        lines.find(|line| line.starts_with(&format!("{key} = ")))
    };
    let mut new = String::new();
    for section in own.split_inclusive("\n\n") {
        if ["[lints]", "[[test]]", "[dev-dependencies]"]
            .iter()
            .any(|head| section.starts_with(head))
        {
            continue;
        }
        for line in section.lines() {
            let line = match line.strip_suffix(".workspace = true") {
                Some(key) => shared(key).unwrap_or_default().to_owned(),
                None if line.starts_with("name = \"ebbtide-") => format!("name = \"{name}\""),
                None => line.replace("path = \"..", &format!("path = \"{}", crates.display())),
            };
            new += &(line + "\n");
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::manifest;
    use std::path::Path;

    #[test]
    fn a_copy_has_the_name_and_all_that_it_had_from_the_workspace() {
        let own = "[package]\nname = \"ebbtide-x\"\nedition.workspace = true\n\n[lib]\nname = \"x\"\n\n\
                   [dependencies]\nebbtide = { path = \"../ebbtide\", version = \"0.1.0\" }\n\n\
                   [dev-dependencies]\nserde_json = \"1\"\n\n[lints]\nworkspace = true\n\n\
                   [package.metadata.docs.rs]\nall-features = true\n";
        let workspace =
            "[workspace.package]\nversion = \"1\"\nedition = \"2024\"\n\n[profile.dev]\n";
        let new = "[package]\nname = \"x\"\nedition = \"2024\"\n\n[lib]\nname = \"x\"\n\n\
                   [dependencies]\nebbtide = { path = \"/c/ebbtide\", version = \"0.1.0\" }\n\n\
                   [package.metadata.docs.rs]\nall-features = true\n";
        assert_eq!(manifest(own, workspace, "x", Path::new("/c")), new);
    }
}
