//! Claims of `cargo ebbtide advise` about its page, and about the stacks that it writes for other tools.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "indices of a small file, and counts of a short run"
)]

use super::{Advised, Folder, last_name};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::{collections::BTreeMap, fs, io::Read, process::Command};

/// By stack, from the outermost function on: blocks, bytes, and the blocks that die in its last call.
type Stacks = BTreeMap<Vec<String>, [u64; 3]>;

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        shift += 7;
        if first & 0x80 == 0 {
            return number;
        }
    }
}

/// The fields of a message of protobuf: each with its number, and its bytes if it has some.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let (key, number) = (varint(&mut bytes), varint(&mut bytes));
        let content;
        (content, bytes) = bytes.split_at(if key & 7 == 2 { number as usize } else { 0 });
        fields.push((key >> 3, number, content));
    }
    fields
}

fn all(message: &[u8], wanted: u64) -> Vec<&[u8]> {
    fields(message).into_iter().filter(|field| field.0 == wanted).map(|field| field.2).collect()
}

fn number(message: &[u8], wanted: u64) -> u64 {
    fields(message).into_iter().find(|field| field.0 == wanted).unwrap().1
}

fn numbers(mut packed: &[u8]) -> Vec<u64> {
    std::iter::from_fn(|| (!packed.is_empty()).then(|| varint(&mut packed))).collect()
}

fn pprof(file: &[u8]) -> Stacks {
    let strings = all(file, 6);
    assert!(strings[0].is_empty());
    let string = |index: u64| String::from_utf8(strings[index as usize].to_vec()).unwrap();
    let kinds = all(file, 1).into_iter().map(|kind| string(number(kind, 1)));
    assert_eq!(kinds.collect::<Vec<_>>(), ["blocks", "bytes", "inside"]);
    let by_number =
        |field| all(file, field).into_iter().map(|message| (number(message, 1), message));
    let functions: BTreeMap<u64, &[u8]> = by_number(5).collect();
    let places: BTreeMap<u64, &[u8]> = by_number(4).collect();
    let name = |place: &u64| string(number(functions[&number(all(places[place], 4)[0], 1)], 2));
    let samples = all(file, 2).into_iter();
    samples
        .map(|sample| {
            let stack = numbers(all(sample, 1)[0]);
            let counted = numbers(all(sample, 2)[0]);
            (stack.iter().rev().map(name).collect(), counted.try_into().unwrap())
        })
        .collect()
}

fn speedscope(file: &[u8]) -> Stacks {
    let file: Value = serde_json::from_slice(file).unwrap();
    let name = |frame: &Value| {
        let frame = &file["shared"]["frames"][frame.as_u64().unwrap() as usize];
        frame["name"].as_str().unwrap().to_owned()
    };
    let mut stacks = Stacks::new();
    for (index, profile) in file["profiles"].as_array().unwrap().iter().enumerate() {
        let samples = profile["samples"].as_array().unwrap().iter();
        let weights = profile["weights"].as_array().unwrap().iter();
        let mut sum = 0;
        for (stack, weight) in samples.zip(weights) {
            let stack = stack.as_array().unwrap().iter().map(name).collect();
            stacks.entry(stack).or_default()[index] = weight.as_u64().unwrap();
            sum += weight.as_u64().unwrap();
        }
        assert_eq!(profile["endValue"], sum);
    }
    stacks
}

fn folded(file: &[u8]) -> BTreeMap<Vec<String>, u64> {
    let lines = std::str::from_utf8(file).unwrap().lines();
    lines
        .map(|line| {
            let (stack, blocks) = line.rsplit_once(' ').unwrap();
            (stack.split(';').map(str::to_owned).collect(), blocks.parse().unwrap())
        })
        .collect()
}

/// What is counted in the calls of a function.
fn counted(stacks: &Stacks, function: &str) -> [f64; 3] {
    let within = stacks.iter().filter(|(stack, _)| stack.iter().any(|name| name == function));
    [0, 1, 2].map(|index| within.clone().map(|(_, counted)| counted[index] as f64).sum())
}

/// The page's data.
fn data(page: &str) -> Value {
    let line = page.lines().find_map(|line| line.strip_prefix("const data = ")).unwrap();
    serde_json::from_str(line.strip_suffix(';').unwrap()).unwrap()
}

#[test]
fn stacks_add_up_to_the_advice_in_each_format() {
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    let record = folder.path("kept");
    let record = record.to_str().unwrap();
    folder.advise(&["--every", "1", "--keep", record], &program, &["50"]);
    let written = |name: &str| -> (Vec<u8>, Advised) {
        let path = folder.path(name);
        let options = ["--stacks", path.to_str().unwrap(), "--read", record];
        let advised = folder.advise(&options, &program, &[]);
        (fs::read(path).unwrap(), advised)
    };
    let (file, advised) = written("a.pb");
    let stacks = pprof(&file);
    for function in ["main", "handle", "build", "cache_insert"] {
        let expected = ["blocks", "bytes", "inside"].map(|key| advised.number(function, key));
        assert_eq!(counted(&stacks, function), expected, "{function}");
    }
    let blocks: u64 = stacks.values().map(|counted| counted[0]).sum();
    assert_eq!(advised.json["blocks"], blocks as f64);
    let mut unpacked = Vec::new();
    GzDecoder::new(&*written("a.pb.gz").0).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, file);
    assert_eq!(speedscope(&written("a.speedscope.json").0), stacks);
    let own = stacks.into_iter().map(|(stack, counted)| (stack, counted[0]));
    let own: BTreeMap<_, _> = own.filter(|(_, blocks)| *blocks > 0).collect();
    for name in ["a.folded", "a.txt"] {
        assert_eq!(folded(&written(name).0), own, "{name}");
    }
}

/// Symbols can have any letters.
#[test]
fn the_page_shows_what_the_table_does_whatever_the_names() {
    const NAME: &str = "a::<!--<script></script>;\"\\";
    let folder = Folder::new();
    let Some(program) = folder.compile("server.c", &[]) else { return };
    let renamed = format!("handle={NAME}");
    let output = Command::new("objcopy").args(["--redefine-sym", &renamed]).arg(&program).output();
    assert!(output.unwrap().status.success());
    let (page, folded_path) = (folder.path("page.html"), folder.path("a.folded"));
    let mut options = vec!["--page", page.to_str().unwrap()];
    options.extend(["--stacks", folded_path.to_str().unwrap()]);
    let advised = folder.advise(&options, &program, &["4000"]);
    let page = fs::read_to_string(&page).unwrap();
    for (tag, times) in [("<script", 1), ("</script", 1), ("<!--", 0)] {
        assert_eq!(page.matches(tag).count(), times, "{tag}");
    }
    let data = data(&page);
    assert_eq!(data["rows"][0]["name"], NAME, "{}", advised.table);
    let main = &data["stacks"]["callees"][0];
    assert_eq!(
        (last_name(&main["name"]), &main["callees"][0]["name"]),
        ("main".to_owned(), &NAME.into())
    );
    for text in [&data["rows"][0]["cells"], &data["rows"][0]["hints"], &data["others"]] {
        for text in text.as_array().unwrap() {
            assert!(advised.table.contains(text.as_str().unwrap()), "{text}: {}", advised.table);
        }
    }
    assert!(advised.table.starts_with(data["sums"].as_str().unwrap()), "{}", advised.table);
    // Semicolons are between names.
    let stacks = folded(&fs::read(folded_path).unwrap());
    let name = NAME.replace(';', ":");
    assert!(stacks.keys().any(|stack| stack.len() > 2 && stack[1] == name), "{stacks:?}");
}
