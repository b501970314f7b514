//! A program of its own, because it has an allocator of its own, and gives itself to the adviser.
//!
//! Claim: one line in such a program is enough for it to be advised, and to be tried.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is a failure")]
#![allow(clippy::cast_possible_truncation, reason = "sizes and numbers are small")]

use ebbtide_global::Recorded;
use std::{
    alloc::{GlobalAlloc, Layout},
    env,
    hint::black_box,
    process::Command,
    ptr, thread,
};

/// Blocks of the C library with their layout in front, which are poisoned when they are freed. It ends the
/// program if it gets another's block, or one with another layout.
struct Own;

unsafe extern "C" {
    safe fn aligned_alloc(align: usize, size: usize) -> *mut u8;
    fn free(block: *mut u8);
}

/// The name by which the adviser knows that a program has this allocator.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn mi_malloc(size: usize, align: usize) -> *mut u8 {
    let front = align.max(16);
    let start = aligned_alloc(front, (front + size).next_multiple_of(front));
    if start.is_null() {
        return start;
    }
    let block = start.wrapping_add(front);
    // SAFETY: the last two words in front of the block, of which there are at least 16 bytes.
    unsafe { block.cast::<[usize; 2]>().wrapping_sub(1).write([size, align]) };
    block
}

// SAFETY: blocks are as large and aligned as requested, and in use once at a time.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        mi_malloc(layout.size(), layout.align())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: a block of `mi_malloc` has two words in front.
        if unsafe { block.cast::<[usize; 2]>().wrapping_sub(1).read() } != [size, align] {
            std::process::abort();
        }
        let front = align.max(16);
        let start = block.wrapping_sub(front);
        // SAFETY: the block is not used again, and what is in front of it is this allocator's.
        unsafe { start.write_bytes(0xde, front + size) };
        // SAFETY: `aligned_alloc` returned this address.
        unsafe { free(start) };
    }
}

#[global_allocator]
static ALLOC: Recorded<Own> = Recorded::new(Own);

#[repr(align(256))]
struct Wide([u8; 300]);

/// Allocates 64 blocks in each call, which grow, are zeroed, or are aligned.
#[inline(never)]
fn request(number: u64) -> u64 {
    let words: Vec<String> = (0..60).map(|word| (number + word).to_string()).collect();
    let zeroed = vec![0_u8; 1000];
    let wide = Box::new(Wide([number as u8; 300]));
    assert!(
        zeroed.iter().all(|byte| *byte == 0) && ptr::from_ref(&*wide).addr().is_multiple_of(256)
    );
    let mut grown = Vec::with_capacity(10);
    grown.push(number as u8);
    grown.reserve_exact(1000 + number as usize % 5000);
    grown.extend_from_slice(&wide.0);
    black_box(words.len() as u64 + u64::from(grown[0]) + u64::from(grown[300]))
}

fn work(requests: u64) {
    let threads = (0..2).map(|_| thread::spawn(move || (0..requests).map(request).sum::<u64>()));
    let sums: Vec<u64> =
        threads.collect::<Vec<_>>().into_iter().map(|sum| sum.join().unwrap()).collect();
    println!("sums {sums:?}");
}

/// What the adviser says, and its JSON.
fn adviser(options: &[&str], requests: &str) -> (String, serde_json::Value) {
    let own = env::current_exe().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ebbtide"));
    command.args(["advise", "--json", file.path().to_str().unwrap()]).args(options);
    let output = command.arg("--").arg(own).args(["work", requests]).output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    let json = std::fs::read(file.path()).unwrap();
    (said, serde_json::from_slice(&json).unwrap())
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    if arguments.get(1).is_some_and(|first| first == "work") {
        return work(arguments[2].parse().unwrap());
    }
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        return;
    }
    // All blocks, then some. Without optimisation, the calls of a loop look like one until they are tried.
    for (options, requests, error) in
        [(["--no-try", "--every", "1"], 50, 0.0), (["--no-try", "--every", "64"], 3000, 0.05)]
    {
        let (said, json) = adviser(&options, &requests.to_string());
        let scopes = json["scopes"].as_array().unwrap();
        let scope =
            scopes.iter().find(|scope| scope["function"] == "recorded::request").expect(&said);
        let number = |key: &str| scope[key].as_f64().unwrap();
        let expected = f64::from(2 * requests * 64);
        assert!((number("blocks") / expected - 1.0).abs() <= error, "{scope:#}");
        assert!(number("inside") > 0.999 * number("blocks"), "{scope:#}");
        assert!(said.contains("sums ["), "{said}");
    }
    let (said, json) = adviser(&["--try", "recorded::request", "--runs", "1"], "200");
    assert_eq!(json["measured"]["calls"], 400, "{said}");
    assert_eq!(json["measured"]["prints_the_same"], true, "{said}");
    println!("a program with an allocator of its own is advised and tried");
}
