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
    ptr,
    sync::Mutex,
    thread,
};

const BYTES: usize = 1 << 28;
static mut MEMORY: [u8; BYTES] = [0; BYTES];

/// Blocks of powers of two from `MEMORY`, which are poisoned when they are freed. It ends the program if it
/// gets another's block, or one with another layout.
struct Own;

/// Where the unused memory begins, and the first free block of each size.
static FREE: Mutex<(usize, [usize; 27])> = Mutex::new((0, [0; 27]));

/// The name by which the adviser knows that a program has this allocator.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn mi_malloc(size: usize, align: usize) -> *mut u8 {
    let start = (&raw mut MEMORY).cast::<u8>();
    let bytes = (size + 8).max(align).next_power_of_two().max(16);
    let (top, free) = &mut *FREE.lock().unwrap();
    let listed = &mut free[bytes.ilog2() as usize];
    // Blocks begin at multiples of their size in memory that does.
    let at = if *listed > 0 {
        *listed
    } else {
        (start.addr() + *top).next_multiple_of(bytes) - start.addr()
    };
    if *listed > 0 {
        // SAFETY: a free block has the place of the next one.
        *listed = unsafe { start.wrapping_add(at).cast::<usize>().read() };
    } else {
        *top = at + bytes;
        assert!(*top < BYTES);
    }
    // SAFETY: the last word of the block, which the caller does not use.
    unsafe {
        start.wrapping_add(at + bytes - 8).cast::<[u32; 2]>().write([size as u32, align as u32])
    };
    start.wrapping_add(at)
}

// SAFETY: blocks are as large and aligned as requested, and in use once at a time.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        mi_malloc(layout.size(), layout.align())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let start = (&raw mut MEMORY).cast::<u8>();
        let at = block.addr().wrapping_sub(start.addr());
        let bytes = (layout.size() + 8).max(layout.align()).next_power_of_two().max(16);
        if at >= BYTES {
            std::process::abort();
        }
        let own = start.wrapping_add(at);
        // SAFETY: as in `mi_malloc`.
        if unsafe { own.wrapping_add(bytes - 8).cast::<[u32; 2]>().read() }
            != [layout.size() as u32, layout.align() as u32]
        {
            std::process::abort();
        }
        // SAFETY: the block is not used again.
        unsafe { own.write_bytes(0xde, bytes) };
        let (_, free) = &mut *FREE.lock().unwrap();
        let listed = &mut free[bytes.ilog2() as usize];
        // SAFETY: the same.
        unsafe { own.cast::<usize>().write(*listed) };
        *listed = at;
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
