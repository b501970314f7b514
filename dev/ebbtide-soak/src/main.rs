//! Runs the programs in pairs of processes, prints the table, and checks the limits if requested.

#[cfg(target_os = "linux")]
mod driver;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    driver::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("left out: resident memory is read from /proc");
}
