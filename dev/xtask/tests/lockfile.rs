//! A user who depends on the core with its default features has two packages in `Cargo.lock`: the
//! core and their own.

use std::{fs, path::Path, process::Command};

#[test]
fn the_core_brings_no_other_package() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize();
    let root = root.expect("the workspace is there");
    let user = Path::new(env!("CARGO_TARGET_TMPDIR")).join("user");
    fs::create_dir_all(user.join("src")).expect("the folder can be made");
    fs::write(user.join("src/lib.rs"), "").expect("the file can be written");
    let core = root.join("crates/ebbtide");
    let manifest = format!(
        "[package]\nname = \"user\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nebbtide = {{ path = {core:?} }}\n"
    );
    fs::write(user.join("Cargo.toml"), manifest).expect("the file can be written");
    let status = Command::new(env!("CARGO"))
        .args(["generate-lockfile", "--quiet", "--offline"])
        .current_dir(&user)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "cargo makes a lock file");
    let lock = fs::read_to_string(user.join("Cargo.lock")).expect("the file was made");
    let packages: Vec<&str> = lock.lines().filter(|line| line.starts_with("name = ")).collect();
    assert_eq!(packages, ["name = \"ebbtide\"", "name = \"user\""]);
}
