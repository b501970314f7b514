//! Claims of `cargo ebbtide advise` about its numbers, of programs whose numbers are known.

use super::{Folder, prints_the_same};

/// At rates that do not follow the time, so that other work here changes nothing.
#[test]
fn calls_from_one_line_are_counted_as_exactly_as_the_advice_says() {
    let folder = Folder::new();
    let Some(program) = folder.compile("calls.c", &[]) else { return };
    for (blocks, every) in [
        ("5", "32"),
        ("5", "64"),
        ("50", "64"),
        ("50", "128"),
        ("50", "256"),
        ("50", "512"),
        ("300", "512"),
        ("300", "2048"),
    ] {
        let advised = folder.advise(&["--every", every], &program, &["20000", blocks]);
        let (calls, error) =
            (advised.number("work", "calls"), advised.number("work", "calls_error"));
        assert!(error < 0.2, "{blocks} blocks: {calls} calls, {error}");
        let off = (calls / 20_000.0 - 1.0).abs();
        assert!(off <= 4.0 * error, "{blocks} blocks: {calls} calls, {error}");
        let expected = 20_000.0 * blocks.parse::<f64>().unwrap();
        let found = advised.number("work", "blocks");
        assert!((found / expected - 1.0).abs() < 0.02, "{found} blocks instead of {expected}");
    }
}

#[test]
fn an_exact_run_finds_that_the_allocator_takes_much_of_the_time() {
    let folder = Folder::new();
    let Some(program) = folder.compile("calls.c", &[]) else { return };
    let share = |options: &[&str], calls: &str| {
        let advised = folder.advise(options, &program, &[calls, "50"]);
        prints_the_same(&advised, &program, &[calls, "50"]);
        advised.number("work", "share_of_time")
    };
    let (exact, sampled) = (share(&["--every", "1"], "2000"), share(&[], "100000"));
    // Half of it, on a machine without other work; that may double the one and halve the other.
    assert!(exact > 0.1 && sampled > 0.1, "{exact} and {sampled}");
}

/// A call of the system tells the time of a process with that of its children.
#[test]
fn the_time_of_children_is_not_that_of_the_program() {
    let folder = Folder::new();
    let Some(program) = folder.compile("calls.c", &[]) else { return };
    let share = |seconds: &str| {
        let advised = folder.advise(&[], &program, &["20000", "50", seconds]);
        advised.number("work", "share_of_time")
    };
    let (alone, beside) = (share("0"), share("2"));
    assert!(beside > alone / 2.0, "{alone} and {beside}");
}
