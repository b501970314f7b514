//! The machine and the date of a record.

use std::{fs, process::Command};

/// The header lines of a record.
pub fn header() -> String {
    let threads = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "# cpu: {}, {threads} threads\n# kernel: {}\n# toolchain: {}\n# commit: {}\n# date: {}\n",
        cpu(),
        fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim(),
        output("rustc", &["--version"]),
        commit(),
        output("date", &["-u", "+%F"]),
    )
}

fn cpu() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
    model.and_then(|line| line.split_once(": ")).map_or("unknown", |(_, name)| name).to_owned()
}

fn commit() -> String {
    let changed = output("git", &["status", "--porcelain", "--untracked-files=no"]);
    let with = if changed.is_empty() { "" } else { ", with changes" };
    output("git", &["rev-parse", "--short=12", "HEAD"]) + with
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
