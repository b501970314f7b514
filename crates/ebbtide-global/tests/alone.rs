//! Tests in processes of their own: pools, windows of time and the report are the whole process's.

use std::{env, ffi::OsString, process::Command};

/// Runs the test that begins with it in another process.
macro_rules! alone {
    () => {{
        fn here() {}
        if $crate::alone::ran_alone(std::any::type_name_of_val(&here)) {
            return;
        }
    }};
}

/// Runs the test that has this item in another process, and fails if it fails there. Returns false
/// in that process.
///
/// An emulator runs one program, not those that it starts: `EBBTIDE_TEST_RUNNER` is the command
/// that does.
pub(crate) fn ran_alone(item: &str) -> bool {
    const ALONE: &str = "EBBTIDE_TEST_ALONE";
    let test = item.split_once("::").and_then(|(_, path)| path.strip_suffix("::here")).unwrap();
    // WebAssembly starts no processes, and has one thread for all tests.
    if cfg!(target_family = "wasm") || env::var(ALONE).is_ok_and(|running| running == test) {
        // Most tests are about blocks of arenas, however slow these are.
        ebbtide_global::set_skipping(false);
        return false;
    }
    let runner = env::var("EBBTIDE_TEST_RUNNER").unwrap_or_default();
    let mut command = runner.split_whitespace().map(OsString::from).collect::<Vec<_>>();
    command.push(env::current_exe().unwrap().into());
    let run = || {
        Command::new(&command[0])
            .args(&command[1..])
            .args([test, "--exact", "--include-ignored", "--nocapture"])
            .env(ALONE, test)
            .output()
            .unwrap()
    };
    let mut outcome = run();
    // Wine sometimes ends a process before its first instruction; see `ci/wine.sh`.
    if cfg!(windows) && outcome.stdout.is_empty() {
        outcome = run();
    }
    let output = String::from_utf8_lossy(&outcome.stdout);
    print!("{output}");
    eprint!("{}", String::from_utf8_lossy(&outcome.stderr));
    assert!(outcome.status.success() && output.contains("1 passed"), "{}", outcome.status);
    true
}
