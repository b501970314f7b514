//! Claims of `cargo ebbtide advise`, on small programs in C, C++ and Rust, which are in
//! `tests/programs`.

#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is a failure")]

mod counts;
mod measured;
mod refused;
mod stacks;
mod trial;

use serde_json::Value;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// A folder with compiled programs.
struct Folder(TempDir);

/// What the adviser said about a run.
struct Advised {
    status: i32,
    /// What the program printed, and the adviser.
    printed: String,
    table: String,
    errors: String,
    json: Value,
}

/// What stands in the first line of the adviser's table.
const TABLE: &str = " were recorded; the allocator takes ";

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Compiles a program of `tests/programs`. `None`, with a message, if this machine cannot.
    fn compile(&self, name: &str, more: &[&str]) -> Option<PathBuf> {
        let program = self.path(&name.replace('.', "_"));
        let (compiler, flags) = match Path::new(name).extension().unwrap().to_str().unwrap() {
            "rs" => ("rustc", &["-C", "opt-level=2", "-C", "debuginfo=2", "--edition", "2024"][..]),
            "cpp" => ("g++", &["-O2", "-g"][..]),
            _ => ("cc", &["-O2", "-g", "-pthread", "-fno-builtin-malloc"][..]),
        };
        let compiled = Command::new(compiler)
            .args(flags)
            .arg(source(name))
            .arg("-o")
            .arg(&program)
            .args(more)
            .output();
        let Ok(compiled) = compiled else {
            println!("left out: {compiler} is missing");
            return None;
        };
        let errors = text(&compiled.stderr);
        if !compiled.status.success() && more.contains(&"-static") {
            println!("left out: {compiler} cannot link statically: {errors}");
            return None;
        }
        assert!(compiled.status.success(), "{name}: {errors}");
        Some(program)
    }

    /// Runs the adviser, in an empty folder, which must be empty afterwards too.
    fn run(&self, arguments: &[&str]) -> Output {
        let work = tempfile::tempdir_in(self.0.path()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-ebbtide"))
            .arg("advise")
            .args(arguments)
            .current_dir(work.path())
            .output()
            .unwrap();
        assert_eq!(fs::read_dir(work.path()).unwrap().count(), 0, "a file in the program's folder");
        output
    }

    /// Runs the adviser, and reads the JSON that it writes beside.
    fn run_json(&self, arguments: &[&str]) -> (Output, Value) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let output = self.run(&[&["--json", path], arguments].concat());
        let json = fs::read(path).ok().and_then(|json| serde_json::from_slice(&json).ok());
        (output, json.unwrap_or_default())
    }

    /// What the adviser says about one run of this program.
    fn advise(&self, options: &[&str], program: &Path, arguments: &[&str]) -> Advised {
        self.measure(&[options, &["--no-try"]].concat(), program, arguments)
    }

    /// What the adviser says about this program, after it has tried scopes.
    fn measure(&self, options: &[&str], program: &Path, arguments: &[&str]) -> Advised {
        let program = program.to_str().unwrap();
        let (output, json) = self.run_json(&[options, &["--", program], arguments].concat());
        let (all, errors) = (text(&output.stdout), text(&output.stderr));
        let status = output.status.code().unwrap_or(-1);
        assert!(status == 0 || status == 1, "status {status}: {errors}");
        // The program prints before the adviser does, which begins with the number of blocks.
        let (printed, table) = all.split_at(
            all.find(TABLE).map_or(0, |at| all[..at].rfind('\n').map_or(0, |end| end + 1)),
        );
        let (printed, table) = (printed.trim_end().to_owned(), table.to_owned());
        Advised { status, printed, table, errors, json }
    }

    /// What one run with scopes in a function, and one without, tell.
    fn try_out(&self, function: &str, program: &Path, arguments: &[&str]) -> Value {
        let options = ["--try", function, "--runs", "1", "--", program.to_str().unwrap()];
        let (output, json) = self.run_json(&[&options, arguments].concat());
        assert!(json.is_object(), "{function}: {output:?}");
        json["measured"].clone()
    }

    /// Asserts that a program does the same with scopes in a function, which is called as often.
    fn is_the_same(&self, function: &str, program: &Path, arguments: &[&str], calls: u64) {
        let tried = self.try_out(function, program, arguments);
        assert_eq!(tried["prints_the_same"], true, "{function} of {program:?}: {tried}");
        assert_eq!(tried["calls"], calls, "{function} of {program:?}: {tried}");
    }

    /// Asserts that the adviser refuses with one sentence, which contains these words.
    fn refuses(&self, arguments: &[&str], words: &str) {
        let output = self.run(arguments);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(words), "{arguments:?}: {errors}");
        assert_eq!(errors.trim_end().lines().count(), 1, "{arguments:?}: {errors}");
    }

    /// Asserts that a wrong command line is refused with a sentence and the usage.
    fn refuses_options(&self, arguments: &[&str], words: &str) {
        let output = self.run(arguments);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        let (sentence, usage) = errors.split_once("\n\n").expect("a sentence and the usage");
        assert!(sentence.contains(words), "{arguments:?}: {errors}");
        assert_eq!(sentence.lines().count(), 1, "{arguments:?}: {errors}");
        assert!(usage.starts_with("usage: cargo ebbtide advise"), "{arguments:?}: {errors}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }

    /// A program of the shell.
    fn script(&self, lines: &str) -> PathBuf {
        let script = self.path("script");
        fs::write(&script, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        script
    }

    /// A record of a short run.
    fn record(&self, program: &Path) -> Vec<u8> {
        let file = self.path("record");
        let keep = file.to_str().unwrap();
        self.advise(&["--every", "4", "--keep", keep], program, &["3"]);
        fs::read(file).unwrap()
    }
}

impl Advised {
    /// The functions that are worth a scope.
    fn chosen(&self) -> Vec<String> {
        let scopes = self.json["scopes"].as_array().unwrap().iter();
        let chosen = scopes.filter(|scope| scope["is_chosen"].as_bool().unwrap());
        chosen.map(|scope| last_name(&scope["function"])).collect()
    }

    /// What is known of a function.
    fn scope(&self, function: &str) -> &Value {
        let scopes = self.json["scopes"].as_array().unwrap();
        let found = scopes.iter().find(|scope| last_name(&scope["function"]) == function);
        found.unwrap_or_else(|| panic!("{function} is not in {scopes:#?}"))
    }

    fn number(&self, function: &str, key: &str) -> f64 {
        self.scope(function)[key].as_f64().unwrap()
    }

    fn share_inside(&self, function: &str) -> f64 {
        self.number(function, "inside") / self.number(function, "blocks")
    }

    /// The number that the program printed behind a word.
    fn counted(&self, word: &str) -> f64 {
        let mut words = self.printed.split_whitespace().skip_while(|found| *found != word);
        words.nth(1).unwrap_or_else(|| panic!("no {word} in {}", self.printed)).parse().unwrap()
    }
}

/// The name of a function without its path and its arguments.
fn last_name(function: &Value) -> String {
    let name = function.as_str().unwrap();
    let name = name.split('(').next().unwrap();
    name.rsplit("::").next().unwrap().to_owned()
}

/// What a program prints without the adviser, and how it ends.
fn plain(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap()
}

/// Asserts that the program prints the same with the adviser as without.
fn prints_the_same(advised: &Advised, program: &Path, arguments: &[&str]) {
    let expected = text(&plain(program, arguments).stdout);
    assert_eq!(advised.printed, expected.trim_end(), "{program:?} {arguments:?}");
}

/// The only function that is worth a scope.
fn chosen(advised: &Advised) -> Value {
    assert_eq!(advised.chosen().len(), 1, "{:#}", advised.json);
    let mut scopes = advised.json["scopes"].as_array().unwrap().iter();
    scopes.find(|scope| scope["is_chosen"] == true).unwrap().clone()
}

/// Whether an estimate is that number, but for chance.
fn near(estimate: &Value, number: f64) -> bool {
    (estimate.as_f64().unwrap() / number - 1.0).abs() < 0.5
}

/// The line of a program in which a text is.
fn line(program: &str, text: &str) -> usize {
    let program = fs::read_to_string(source(program)).unwrap();
    program.lines().position(|line| line.contains(text)).unwrap() + 1
}

/// The line of a location.
fn location(location: &Value) -> usize {
    location.as_str().unwrap().rsplit(':').next().unwrap().parse().unwrap()
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 0.5
}

/// Asserts that the sums of a server's `handle` are those that it counted itself.
fn is_exact(advised: &Advised) {
    let (blocks, escaped) = (advised.counted("blocks"), advised.counted("escaped"));
    let scope = advised.scope("handle");
    assert!(same(advised.number("handle", "calls"), advised.counted("calls")), "{scope:#}");
    assert!(same(advised.number("handle", "blocks"), blocks), "{blocks}: {scope:#}");
    assert!(same(advised.number("handle", "inside"), blocks - escaped), "{escaped}: {scope:#}");
    assert!(same(advised.number("handle", "freed_by_other_threads"), 0.0), "{scope:#}");
    let escapes = scope["escapes"].as_array().unwrap();
    assert_eq!(escapes.len(), 1, "{scope:#}");
    assert_eq!(last_name(&escapes[0]["stack"][0]), "cache_insert", "{scope:#}");
    assert!(same(escapes[0]["blocks"].as_f64().unwrap(), escaped), "{scope:#}");
}

const SERVERS: [&str; 2] = ["server.c", "server.rs"];

#[test]
fn the_handler_of_a_server_is_the_scope() {
    let folder = Folder::new();
    for program in SERVERS.iter().filter_map(|name| folder.compile(name, &[])) {
        let advised = folder.advise(&[], &program, &["4000"]);
        assert_eq!(advised.chosen(), ["handle"], "{program:?}");
        assert_eq!(advised.status, 0);
        prints_the_same(&advised, &program, &["4000"]);
    }
}

#[test]
fn an_exact_run_counts_as_the_program_does() {
    let folder = Folder::new();
    for program in SERVERS.iter().filter_map(|name| folder.compile(name, &[])) {
        let advised = folder.advise(&["--every", "1"], &program, &["200"]);
        is_exact(&advised);
        prints_the_same(&advised, &program, &["200"]);
    }
}

#[test]
fn a_sampled_run_finds_the_shares_of_an_exact_one() {
    let folder = Folder::new();
    for program in SERVERS.iter().filter_map(|name| folder.compile(name, &[])) {
        let exact = folder.advise(&["--every", "1"], &program, &["200"]);
        let sampled = folder.advise(&[], &program, &["4000"]);
        for function in ["handle", "main"] {
            let (one, other) = (exact.share_inside(function), sampled.share_inside(function));
            assert!((one - other).abs() < 0.02, "{function}: {one} and {other}");
        }
        let ratio = sampled.number("handle", "blocks") / sampled.counted("blocks");
        assert!((ratio - 1.0).abs() < 0.2, "{ratio}");
        assert_eq!(sampled.chosen(), ["handle"]);
    }
}

#[test]
fn a_kept_record_says_the_same_when_it_is_read() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    let keep = folder.path("kept");
    let keep = keep.to_str().unwrap();
    let one = folder.advise(&["--keep", keep], &program, &["2000"]);
    let other = folder.advise(&["--read", keep], &program, &[]);
    for key in ["calls", "blocks", "bytes", "inside", "recorded"] {
        assert!(same(one.number("handle", key), other.number("handle", key)), "{key}");
    }
    // The time that passed, which is all that a record has, depends on the machine's load.
    assert_eq!(one.chosen(), ["handle"]);
}

#[test]
fn a_cache_and_a_computation_get_no_advice() {
    let folder = Folder::new();
    for name in ["cache.c", "computes.c"] {
        let Some(program) = folder.compile(name, &[]) else { continue };
        let advised = folder.advise(&[], &program, &[]);
        assert!(advised.chosen().is_empty(), "{name}: {:?}", advised.chosen());
        assert_eq!(advised.status, 1, "{name}");
        prints_the_same(&advised, &program, &[]);
    }
}

#[test]
fn the_scope_of_an_async_function_is_its_future() {
    let folder = Folder::new();
    let Some(program) = folder.compile("future.rs", &[]) else { return };
    let advised = folder.advise(&[], &program, &["8000"]);
    assert_eq!(advised.chosen(), ["{{closure}}"], "{:#}", advised.json);
    prints_the_same(&advised, &program, &["8000"]);
    let shown = advised.table;
    assert!(shown.contains("write: ebbtide_global::ArenaFuture::new(…) around the"), "{shown}");
    folder.is_the_same("order::{{closure}}", &program, &["100"], 200);
}

/// Whatever the debug information, in which lines alone have short names.
#[test]
fn the_scope_of_a_task_s_request_is_the_future_that_answers_it() {
    let folder = Folder::new();
    for (debug, name) in
        [("2", "future::answer::{{closure}}"), ("line-tables-only", "{async_fn#0}")]
    {
        let debug = format!("-Cdebuginfo={debug}");
        let Some(program) = folder.compile("future.rs", &[&debug]) else { return };
        let advised = folder.advise(&["--every", "64"], &program, &["8000", "task"]);
        let chosen = chosen(&advised);
        assert_eq!(chosen["function"], name, "{:#}", advised.json);
        assert_eq!(chosen["inlined_into"], "future::main::{{closure}}", "{chosen:#}");
        assert!(near(&chosen["calls"], 8000.0), "{chosen:#}");
        let shown = advised.table;
        assert!(shown.contains("write: ebbtide_global::ArenaFuture::new(…) around"), "{shown}");
        assert!(shown.contains("` is inlined into `future::main::{{closure}}`: "), "{shown}");
    }
}

#[test]
fn a_function_that_is_inlined_is_a_scope() {
    let folder = Folder::new();
    let Some(program) = folder.compile("inlined.c", &[]) else { return };
    let stacks = folder.path("a.folded");
    let options = ["--every", "16", "--stacks", stacks.to_str().unwrap()];
    let advised = folder.advise(&options, &program, &["post", "20000"]);
    let chosen = chosen(&advised);
    assert_eq!((&chosen["function"], &chosen["inlined_into"]), (&"post".into(), &"main".into()));
    assert!(near(&chosen["calls"], 20_000.0), "{chosen:#}");
    assert!(advised.share_inside("post") > 0.98, "{chosen:#}");
    assert!(advised.table.contains("`post` is inlined into `main`: "), "{}", advised.table);
    let (first, last) = ("long **list = malloc", "malloc(sizeof **kept)");
    let (first, last) = (line("inlined.c", first), line("inlined.c", last));
    let at = location(&chosen["location"]);
    assert!((first..=last).contains(&at), "{chosen:#}");
    assert!(fs::read_to_string(stacks).unwrap().contains("main;post "));

    // Nothing in it is called once a call, and a loop is around it.
    let advised = folder.advise(&[], &program, &["parses", "20000"]);
    let chosen = self::chosen(&advised);
    assert_eq!((&chosen["function"], &chosen["calls"]), (&"parses".into(), &Value::Null));
}

/// A function that can be tried is preferred.
#[test]
fn a_function_that_inlines_another_one_is_the_scope() {
    let folder = Folder::new();
    let Some(program) = folder.compile("inlined.c", &[]) else { return };
    let advised = folder.advise(&[], &program, &["serve", "20000"]);
    assert_eq!(advised.chosen(), ["serve"], "{:#}", advised.json);
}

/// Where the code is again where it was is no sign of the same call.
#[test]
fn blocks_that_a_later_inlined_call_frees_are_no_reason_for_a_scope() {
    let folder = Folder::new();
    let Some(program) = folder.compile("inlined.c", &[]) else { return };
    for what in ["replace", "replace_all"] {
        let advised = folder.advise(&[], &program, &[what, "20000"]);
        assert!(advised.chosen().is_empty(), "{what}: {:#}", advised.json);
    }
}

#[test]
fn a_loop_that_is_no_function_is_named_by_its_lines() {
    let folder = Folder::new();
    let Some(program) = folder.compile("inlined.c", &[]) else { return };
    let advised = folder.advise(&[], &program, &["loop", "20000"]);
    let first = line("inlined.c", "char *text = malloc");
    let last = line("inlined.c", "char *copy = malloc");
    let path = source("inlined.c").display().to_string();
    let hint = format!("If a loop is in it ({path}:{first}-{last}), move the body");
    assert!(advised.table.contains(&hint), "{hint}: {}", advised.table);
}

/// Nobody writes a scope into a library of others.
#[test]
fn the_program_s_own_function_is_named_rather_than_the_library_s() {
    let folder = Folder::new();
    let library = folder.path("registry/src/library.c");
    fs::create_dir_all(library.parent().unwrap()).unwrap();
    let text = "#include <stdlib.h>\n__attribute__((noinline)) long parse(long n) { char *block[99]; \
        for (int i = 0; i < 99; i++) (block[i] = malloc(i + 1))[0] = n; \
        for (int i = 0; i < 99; i++) { n += block[i][0]; free(block[i]); } return n; }\n";
    fs::write(&library, text).unwrap();
    let main = folder.path("main.c");
    let text = "long parse(long n);\n__attribute__((noinline)) long handle(long n) \
        { return parse(n) / 3 + parse(n + 1) / 5; }\nint main(void) { long sum = 0; for (volatile long i = 0; i < 20000; \
        i++) sum += handle(i); return sum == 7; }\n";
    fs::write(&main, text).unwrap();
    let program = folder.path("program");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-g", "-fno-builtin", "-o"]).arg(&program).args([&main, &library]);
    assert!(compiler.status().unwrap().success());
    assert_eq!(folder.advise(&[], &program, &[]).chosen(), ["handle"]);
}

#[test]
fn a_function_whose_calls_look_like_one_is_named() {
    let folder = Folder::new();
    let Some(program) = folder.compile("alike.c", &[]) else { return };
    let shown = |turns, blocks, status| {
        let advised = folder.advise(&[], &program, &[turns, blocks]);
        assert_eq!(advised.status, status, "{}", advised.table);
        advised.table
    };
    let all = shown("20000", "64", 1);
    assert!(all.contains("No scope would pay as calls were counted: work would save"), "{all}");
    assert!(all.contains("`--try \"work\"`"), "{all}");
    // Here, a scope for all calls would hold little more than the program does.
    let all = shown("30", "20000", 0);
    assert!(all.contains("try:   --try \"work\""), "{all}");
    assert!(all.contains("called once: "), "{all}");
}

/// A scope would hold no more than the program does.
#[test]
fn a_document_that_is_built_once_gets_advice() {
    let folder = Folder::new();
    let Some(program) = folder.compile("document.c", &[]) else { return };
    let advised = folder.advise(&[], &program, &[]);
    assert_eq!(advised.chosen().len(), 1, "{:#}", advised.json);
    prints_the_same(&advised, &program, &[]);
}

#[test]
fn blocks_that_another_thread_frees_are_counted_as_such() {
    let folder = Folder::new();
    let Some(program) = folder.compile("threads.c", &[]) else { return };
    let advised = folder.advise(&["--every", "1"], &program, &["handed"]);
    for key in ["blocks", "freed_by_other_threads"] {
        assert!(same(advised.number("make", key), advised.counted("blocks")), "{key}");
    }
    prints_the_same(&advised, &program, &["handed"]);
}

#[test]
fn the_sums_of_four_threads_are_exact() {
    let folder = Folder::new();
    let Some(program) = folder.compile("threads.c", &[]) else { return };
    let advised = folder.advise(&["--every", "1"], &program, &["four"]);
    let scope = advised.scope("handle");
    for key in ["calls", "blocks"] {
        assert!(same(advised.number("handle", key), advised.counted(key)), "{key}: {scope:#}");
    }
    assert!(same(advised.number("handle", "inside"), advised.counted("blocks")), "{scope:#}");
    assert!(same(advised.number("handle", "freed_by_other_threads"), 0.0), "{scope:#}");
    prints_the_same(&advised, &program, &["four"]);
}

#[test]
fn threads_with_the_smallest_stack_can_be_recorded() {
    let folder = Folder::new();
    let Some(program) = folder.compile("threads.c", &[]) else { return };
    for options in [&["--every", "1"][..], &[]] {
        let advised = folder.advise(options, &program, &["small"]);
        prints_the_same(&advised, &program, &["small"]);
    }
}

#[test]
fn a_forked_child_is_recorded_and_disturbs_no_record() {
    let folder = Folder::new();
    let Some(program) = folder.compile("processes.c", &[]) else { return };
    for every in ["1", "2", "16"] {
        let advised = folder.advise(&["--every", every], &program, &["fork"]);
        prints_the_same(&advised, &program, &["fork"]);
        let blocks = advised.number("fill", "blocks");
        assert!((blocks / 60_000.0 - 1.0).abs() < 0.1, "{every}: {blocks}");
        assert!(advised.errors.is_empty(), "{every}: {}", advised.errors);
    }
}

/// Also if other threads allocate while the process forks, and if the process that was started has ended.
#[test]
fn the_requests_of_a_server_s_children_are_counted() {
    let folder = Folder::new();
    let Some(program) = folder.compile("prefork.c", &[]) else { return };
    for mode in ["alone", "threads", "daemon"] {
        let arguments = ["4000", mode];
        let advised = folder.advise(&["--every", "64"], &program, &arguments);
        let scope = advised.scope("request");
        let (calls, error) =
            (advised.number("request", "calls"), advised.number("request", "calls_error"));
        assert!(error < 0.2 && (calls / 12_000.0 - 1.0).abs() <= 4.0 * error, "{mode}: {scope:#}");
        let blocks = advised.number("request", "blocks");
        assert!((blocks / 720_000.0 - 1.0).abs() < 0.02, "{mode}: {scope:#}");
        assert!(advised.share_inside("request") > 0.999, "{mode}: {scope:#}");
        assert!(advised.errors.is_empty(), "{mode}: {}", advised.errors);
        if mode != "threads" {
            assert_eq!(advised.chosen(), ["request"], "{mode}: {}", advised.table);
        }
        let exact = folder.advise(&["--every", "1"], &program, &["40", mode]);
        assert!(same(exact.number("request", "calls"), 120.0), "{mode}: {}", exact.table);
        assert!(same(exact.number("request", "inside"), 7200.0), "{mode}: {}", exact.table);
        assert!(exact.printed.contains("status 0 sum "), "{mode}: {}", exact.printed);
    }
}

#[test]
fn a_program_that_replaces_itself_is_recorded_after_it() {
    let folder = Folder::new();
    let (Some(program), Some(server)) =
        (folder.compile("processes.c", &[]), folder.compile("server.c", &[]))
    else {
        return;
    };
    let arguments = ["exec", server.to_str().unwrap(), "200"];
    let advised = folder.advise(&["--every", "1"], &program, &arguments);
    is_exact(&advised);
    prints_the_same(&advised, &program, &arguments);
    assert!(advised.errors.contains("other processes were recorded"), "{}", advised.errors);
}

/// Some programs do what they are called: toolchain managers, multi-call programs, virtual environments.
#[test]
fn a_program_is_called_as_the_user_wrote_it() {
    let folder = Folder::new();
    let Some(program) = folder.compile("called.c", &[]) else { return };
    let link = program.with_file_name("another_name");
    std::os::unix::fs::symlink(&program, &link).unwrap();
    let link = link.to_str().unwrap();
    for options in [&["--"][..], &["--try", "work", "--"]] {
        let output = folder.run(&[options, &[link]].concat());
        assert!(text(&output.stdout).contains(link), "{}", text(&output.stdout));
    }
}

#[test]
fn the_program_of_a_script_is_recorded() {
    let folder = Folder::new();
    let Some(server) = folder.compile("server.c", &[]) else { return };
    let script = folder.script(&format!("{} \"$@\"\nexit 0", server.display()));
    let advised = folder.advise(&["--every", "1"], &script, &["200"]);
    is_exact(&advised);
    prints_the_same(&advised, &script, &["200"]);
}

#[test]
fn a_program_that_ends_early_leaves_an_exact_record() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    for (end, fate) in
        [("abort", "signal 6"), ("killed", "signal 9"), ("_exit", ""), ("status", "status 3")]
    {
        let advised = folder.advise(&["--every", "1"], &program, &["100", end]);
        is_exact(&advised);
        prints_the_same(&advised, &program, &["100", end]);
        assert!(advised.errors.contains(fate), "{end}: {}", advised.errors);
        assert_eq!(advised.errors.is_empty(), fate.is_empty(), "{end}: {}", advised.errors);
    }
}

#[test]
fn a_record_that_cannot_grow_ends_without_the_program() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    let script = folder.script(&format!("ulimit -f 4096\nexec {} \"$@\"", program.display()));
    let advised = folder.advise(&["--every", "1"], &script, &["400"]);
    prints_the_same(&advised, &program, &["400"]);
    assert!(!advised.errors.contains("did not end well"), "{}", advised.errors);
    assert!(advised.number("handle", "blocks") < advised.counted("blocks"));
    assert!(advised.share_inside("handle") > 0.95);
}

#[test]
fn files_that_a_program_opens_after_it_closed_all_are_its_own() {
    let folder = Folder::new();
    let Some(program) = folder.compile("processes.c", &[]) else { return };
    let own = folder.path("own");
    let arguments = ["closed", own.to_str().unwrap()];
    let advised = folder.advise(&["--every", "1"], &program, &arguments);
    assert_eq!(advised.counted("bytes"), 4.0);
    assert_eq!(fs::read(&own).unwrap(), b"mine");
    assert!(same(advised.number("fill", "blocks"), 20_000.0));
}

#[test]
fn blocks_keep_the_promises_of_the_allocator() {
    let folder = Folder::new();
    let Some(program) = folder.compile("blocks.c", &["-fno-builtin", "-w"]) else { return };
    assert_eq!(text(&plain(&program, &[]).stdout), "all of it\n");
    for options in [&["--every", "1"][..], &["--every", "3"], &[]] {
        let advised = folder.advise(options, &program, &[]);
        assert_eq!(advised.printed, "all of it", "{options:?}");
    }
}

#[test]
fn exceptions_pass_through_frames() {
    let folder = Folder::new();
    let Some(program) = folder.compile("exceptions.cpp", &[]) else { return };
    let advised = folder.advise(&["--every", "1"], &program, &["200"]);
    prints_the_same(&advised, &program, &["200"]);
    let scope = advised.scope("handle");
    assert!(same(advised.number("handle", "calls"), 200.0), "{scope:#}");
    assert!(advised.share_inside("handle") > 0.999, "{scope:#}");
    let sampled = folder.advise(&[], &program, &["200"]);
    prints_the_same(&sampled, &program, &["200"]);
}

#[test]
fn panics_pass_through_frames() {
    let folder = Folder::new();
    let Some(program) = folder.compile("panics.rs", &[]) else { return };
    let advised = folder.advise(&["--every", "1"], &program, &["300"]);
    prints_the_same(&advised, &program, &["300"]);
    let scope = advised.scope("handle");
    assert!(same(advised.number("handle", "calls"), 300.0), "{scope:#}");
    assert!(advised.share_inside("handle") > 0.99, "{scope:#}");
    let sampled = folder.advise(&[], &program, &["300"]);
    prints_the_same(&sampled, &program, &["300"]);
}

#[test]
fn recursion_a_hundred_thousand_calls_deep_is_recorded() {
    let folder = Folder::new();
    let Some(program) = folder.compile("deep.c", &[]) else { return };
    for options in [&["--every", "64"][..], &[]] {
        let advised = folder.advise(options, &program, &[]);
        prints_the_same(&advised, &program, &[]);
        let blocks = advised.number("descend", "blocks");
        assert!((blocks / 150_002.0 - 1.0).abs() < 0.02, "{options:?}: {blocks}");
        assert!(advised.number("descend", "share_of_time") < 1.0, "{options:?}");
    }
}

#[test]
fn nothing_is_written_where_the_program_runs() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    let before = fs::read_dir(folder.0.path()).unwrap().count();
    // `run` looks into the folder in which the program runs.
    for end in ["return", "abort", "_exit"] {
        folder.advise(&[], &program, &["100", end]);
    }
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), before);
}
