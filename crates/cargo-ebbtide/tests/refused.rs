//! Claims about what the adviser refuses: each in one sentence.

use super::{Folder, plain, text};
use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path, process::Output};

#[test]
fn what_is_no_program_is_refused() {
    let folder = Folder::new();
    let write = |name: &str, bytes: &[u8], mode: u32| {
        let path = folder.path(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    folder.refuses(&[&write("text", b"not a program", 0o644)], "is not a program");
    folder.refuses(&[&write("garbage", b"not a program", 0o755)], "neither a program");
    folder.refuses(&[&write("empty", b"", 0o755)], "neither a program");
    folder.refuses(&[&write("elf", b"\x7fELF\x02\x01\x01", 0o755)], "neither a program");
    folder.refuses(&[folder.0.path().to_str().unwrap()], "is not a program");
    folder.refuses(&["./missing"], "`./missing`");
    folder.refuses(&["ebbtide-no-such-program"], "is no program in PATH");
}

#[test]
fn programs_that_cannot_be_recorded_are_refused_with_a_way_out() {
    let folder = Folder::new();
    let refuses_program = |program: &Path, words: &str| {
        let program = program.to_str().unwrap();
        folder.refuses(&["--", program], words);
        folder.refuses(&["--try", "main", "--", program], words);
    };
    let refuses = |name: &str, flags: &[&str], words: &str| {
        let Some(program) = folder.compile(name, flags) else { return };
        refuses_program(&program, words);
    };
    refuses("deep.c", &["-static"], "link it dynamically");
    refuses("deep.c", &["-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"], "built for musl");
    refuses("own.c", &[], "an allocator of its own (`malloc`)");
    refuses("own.c", &["-s"], "an allocator of its own (`malloc`)");
    refuses(
        "own.rs",
        &[],
        "an allocator of its own (`mi_free`); build it with the system's, or write",
    );
    refuses("own_free.c", &["-s"], "an allocator of its own (`__libc_free`)");
    let Some(program) = folder.compile("deep.c", &[]) else { return };
    let mut other = fs::read(&program).unwrap();
    // The machine in the head of the file: AArch64.
    other[18..20].copy_from_slice(&[0xb7, 0]);
    let path = folder.path("other");
    fs::write(&path, other).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    refuses_program(&path, "another processor than x86-64");
    refuses_program(Path::new("./missing"), "`./missing`");
}

/// Named on the command line, or started by a script.
#[test]
fn another_allocator_in_a_library_is_refused() {
    let folder = Folder::new();
    let Some(library) = folder.compile("other_allocator.c", &["-shared", "-fPIC"]) else { return };
    let flags = ["-Wl,--no-as-needed", library.to_str().unwrap()];
    for (name, flags) in [("uses_other.c", &flags[..]), ("own_free.c", &[])] {
        let Some(program) = folder.compile(name, flags) else { return };
        if !flags.is_empty() {
            let path = program.to_str().unwrap();
            assert_eq!(text(&plain(&program, &[]).stdout), "all of it\n");
            folder.refuses(&["--", path], "loads another allocator (`");
            folder.refuses(&["--try", "main", "--", path], "loads another allocator (`");
        }
        let script = folder.script(&program.display().to_string());
        let errors = text(&folder.run(&["--", script.to_str().unwrap()]).stderr);
        assert!(errors.contains("the program loads another allocator"), "{name}: {errors}");
    }
}

#[test]
fn a_stripped_program_is_refused_with_what_to_do() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &["-s"]) else { return };
    let output = folder.run(&["--", program.to_str().unwrap()]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(errors.trim_end().lines().count(), 1, "{errors}");
    assert!(errors.contains("has no symbols") && errors.contains("without `strip`"), "{errors}");
    assert_eq!(output.stdout, plain(&program, &[]).stdout);
    let path = program.to_str().unwrap();
    folder.refuses(&["--try", "handle", "--", path], "has no symbols, so its functions have no");
}

#[test]
fn a_wrong_command_line_is_refused_with_the_usage() {
    let folder = Folder::new();
    folder.refuses_options(&["--every", "0", "--", "true"], "`--every 0` is not a number above 0");
    folder
        .refuses_options(&["--every", "-3", "--", "true"], "`--every -3` is not a number above 0");
    folder.refuses_options(
        &["--every", "many", "--", "true"],
        "`--every many` is not a number above 0",
    );
    folder.refuses_options(&["--frobnicate", "--", "true"], "--frobnicate");
    folder.refuses_options(&["--every"], "--every");
    folder.refuses_options(&["--json"], "--json");
    folder.refuses_options(
        &["--stacks", "a.svg", "--", "true"],
        "`--stacks a.svg` ends in none of .folded",
    );
    folder
        .refuses_options(&["--budget", "0", "--", "true"], "`--budget 0` is not a number above 0");
    folder.refuses_options(&["--no-try"], "no program is named");
}

/// Reads a changed record.
fn read(folder: &Folder, program: &Path, bytes: &[u8]) -> Output {
    let file = folder.path("changed");
    fs::write(&file, bytes).unwrap();
    folder.run(&["--read", file.to_str().unwrap(), program.to_str().unwrap()])
}

#[test]
fn what_is_no_record_is_refused() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    let record = folder.record(&program);
    let refuses = |bytes: &[u8], words: &str| {
        let output = read(&folder, &program, bytes);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{} bytes: {errors}", bytes.len());
        assert_eq!(errors.trim_end().lines().count(), 1, "{} bytes: {errors}", bytes.len());
        assert!(errors.contains(words), "{} bytes: {errors}", bytes.len());
    };
    refuses(b"", "no record");
    refuses(b"garbage", "no record");
    refuses(&[0xA5; 5000], "no record");
    let mut newer = record.clone();
    newer[8] += 1;
    refuses(&newer, "version");
    // Cut anywhere, between two entries too.
    let len = usize::try_from(u64::from_ne_bytes(record[16..24].try_into().unwrap())).unwrap();
    refuses(&record[..100], "no record");
    for step in 0..40 {
        refuses(&record[..128 + (len - 129) / 40 * step], "broken");
        refuses(&record[..128 + step * 8], "broken");
    }
    refuses(&record[..len - 1], "broken");
    let missing = folder.path("missing");
    folder.refuses(&["--read", missing.to_str().unwrap(), program.to_str().unwrap()], "missing");
}

/// Whatever is in a record, the adviser ends, and says what it says by its exit status.
#[test]
fn a_damaged_record_is_read_or_refused() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    let record = folder.record(&program);
    let word = |at: usize| u64::from_ne_bytes(record[at..at + 8].try_into().unwrap());
    let len = usize::try_from(word(16)).unwrap();
    let read_with = |value: u64, places: &mut dyn Iterator<Item = usize>| {
        let mut changed = record[..len].to_vec();
        let mut first = None;
        for at in places {
            changed[at..at + 8].copy_from_slice(&value.to_ne_bytes());
            first = first.or(Some(at));
        }
        let output = read(&folder, &program, &changed);
        let (status, errors) = (output.status.code(), text(&output.stderr));
        assert!(matches!(status, Some(0..=2)), "{value:#x} from {first:?}: {status:?} {errors}");
    };
    for (round, value) in [0, 1, u64::MAX, 1 << 40, 0x0305].into_iter().enumerate() {
        for start in 0..30 {
            // Every word of the first entries, and some of the later ones.
            let first =
                if start < 10 { 128 + start * 8 } else { (start * 7 + round) * len / 8 / 300 * 8 };
            let step = if start % 2 == 0 { len } else { 8 * 97 };
            read_with(value, &mut (first.max(24)..len - 8).step_by(step));
        }
    }
    // Each word of a kind of entry, in all of them: 0 blocks later, in frame 0, and so on.
    let (mut at, mut kinds) = (128, BTreeMap::new());
    while at < len {
        let words = usize::try_from(word(at) >> 8).unwrap();
        let (least, entries) = kinds.entry(word(at) & 0xff).or_insert((words, Vec::new()));
        *least = words.min(*least);
        entries.push(at);
        at += words * 8;
    }
    for (words, entries) in kinds.values() {
        (1..*words).for_each(|word| read_with(0, &mut entries.iter().map(|at| at + word * 8)));
    }
    assert!(kinds.len() >= 6, "{:?}", kinds.keys());
}
