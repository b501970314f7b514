//! Runs the tour as a program and checks its output.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

type Tested = Result<(), Box<dyn Error>>;

const STAGES: [&str; 3] = ["parse JSON", "group words", "temporaries"];

/// An empty folder for this test.
fn folder(test: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tour").join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn tour(arguments: &[&str]) -> Result<Output, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ebbtide-tour"));
    Ok(command.args(["--quick", "--seconds", "0.01"]).args(arguments).output()?)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The number that follows `name` in the report.
fn figure<'o>(output: &'o str, name: &str) -> Option<&'o str> {
    let after_name = output.match_indices(name).map(|(at, _)| &output[at + name.len()..]);
    let mut figures =
        after_name.filter_map(|text| text.strip_prefix(' ')?.split([',', ' ', '\n']).next());
    figures.find(|figure| figure.starts_with(|c: char| c.is_ascii_digit()))
}

#[test]
fn all_kinds_of_memory_agree_on_a_folder() -> Tested {
    let folder = folder("a_folder")?;
    let input = folder.join("input");
    fs::create_dir_all(input.join("deeper"))?;
    fs::create_dir_all(input.join(".hidden"))?;
    fs::write(
        input.join("a.rs"),
        "fn ebb(tide: &str) -> u32 { tide.len() as u32 } // not a token",
    )?;
    fs::write(
        input.join("b.json"),
        r#"{"packages": [{"dependencies": [{"kind": null}, {"kind": "dev"}]}, {"dependencies": []}]}"#,
    )?;
    fs::write(input.join("deeper/c.txt"), "Ebb and flow, ebb and tide. ".repeat(40))?;
    fs::write(input.join("deeper/d.png"), [0x89, b'P', b'N', b'G', 0xFF])?;
    fs::write(input.join(".hidden/e.txt"), "unseen")?;
    let page = folder.join("page/index.html");

    let output = tour(&[&input.to_string_lossy(), "--page", &page.to_string_lossy()])?;
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert_eq!(err, "", "there is no progress bar without a terminal");

    assert!(out.contains("3 files, 1.24 KiB, 1 of them JSON"), "{out}");
    assert!(
        out.contains("note     1 file not UTF-8, left out: ") && out.contains("d.png"),
        "{out}"
    );
    assert!(out.contains("the same with every kind of memory"), "{out}");
    assert!(STAGES.iter().all(|stage| out.contains(stage)), "{out}");
    assert!(["heap", "scopes", "transparent"].iter().all(|mode| out.contains(mode)), "{out}");
    for (name, expected) in [
        ("values", "10"),
        ("packages", "2"),
        ("dependencies", "2"),
        ("words", "259"),
        ("spellings", "17"),
        ("largest group", "81"),
    ] {
        assert_eq!(figure(&out, name), Some(expected), "{name} in {out}");
    }

    let page = fs::read_to_string(page)?;
    assert_eq!(page.matches("<figure>").count(), 4);
    assert!(STAGES.iter().all(|stage| page.contains(stage)));
    assert!(page.contains("prefers-color-scheme: dark"));
    assert!(!page.contains("http"), "the page loads nothing from the network");
    Ok(())
}

#[test]
fn without_arguments_the_checkout_is_the_input() -> Tested {
    let page = folder("without_arguments")?.join("index.html");
    let output = tour(&["--max-mib", "1", "--page", &page.to_string_lossy()])?;
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(out.contains("cargo metadata of this checkout"), "{out}");
    assert!(figure(&out, "dependencies").is_some_and(|count| count != "0"), "{out}");
    Ok(())
}

#[test]
fn a_stage_without_input_says_so() -> Tested {
    let folder = folder("no_json")?;
    fs::write(folder.join("a.rs"), "fn main() {}")?;
    let page = folder.join("index.html");
    let output =
        tour(&[&folder.join("a.rs").to_string_lossy(), "--page", &page.to_string_lossy()])?;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let (out, page) = (text(&output.stdout), fs::read_to_string(page)?);
    let no_input = "no JSON among the files";
    assert!(out.contains(no_input) && page.contains(no_input), "{out}");
    Ok(())
}

#[test]
fn unusable_input_is_named_and_ends_the_tour_with_code_2() -> Tested {
    let folder = folder("unusable")?;
    fs::write(folder.join("bytes"), [0xFF; 10])?;
    let (missing, bytes) = (folder.join("no such file"), folder.join("bytes"));
    for (path, reason) in
        [(missing, "cannot read"), (bytes, "no usable input"), (folder, "no usable input")]
    {
        let path = path.to_string_lossy();
        let output = tour(&[&path])?;
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(reason) && err.contains(&*path), "{err}");
        assert_eq!(text(&output.stdout), "");
    }
    Ok(())
}

#[test]
fn an_unknown_option_ends_the_tour_with_code_2() -> Tested {
    let output = tour(&["--fast"])?;
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--fast"), "{}", text(&output.stderr));
    Ok(())
}

#[test]
fn a_page_that_cannot_be_written_ends_the_tour_with_code_1() -> Tested {
    let folder = folder("no_page")?;
    let input = folder.join("a.txt");
    fs::write(&input, "a word")?;
    let page = input.join("index.html");
    let output = tour(&[&input.to_string_lossy(), "--page", &page.to_string_lossy()])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot write"), "{}", text(&output.stderr));
    Ok(())
}

#[test]
fn help_names_every_option() -> Tested {
    let output = tour(&["--help"])?;
    assert_eq!(output.status.code(), Some(0));
    let out = text(&output.stdout);
    let options = ["--seconds", "--quick", "--max-mib", "--page", "--help", "--version"];
    assert!(options.iter().all(|option| out.contains(option)), "{out}");
    Ok(())
}
