//! Each third request panics in a frame with blocks, and is caught by its handler.

use std::panic::{catch_unwind, set_hook};

#[inline(never)]
fn work(number: u32) -> usize {
    let blocks: Vec<Box<u32>> = (0..20).map(|index| Box::new(number + index)).collect();
    if number % 3 == 0 {
        panic!("the number is {number}");
    }
    blocks.iter().map(|block| **block as usize).sum()
}

#[inline(never)]
fn handle(number: u32) -> usize {
    match catch_unwind(|| work(number)) {
        Ok(sum) => sum,
        Err(panic) => panic.downcast_ref::<String>().map_or(0, String::len),
    }
}

fn main() {
    let calls = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    set_hook(Box::new(|_| {}));
    let mut sum = 0;
    for number in 0..calls {
        sum += handle(number);
    }
    println!("sum {sum} calls {calls}");
}
