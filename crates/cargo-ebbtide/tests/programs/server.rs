//! The same server in Rust, with the system's allocator.

use std::alloc::System;

#[global_allocator]
static SYSTEM: System = System;

struct Node {
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
    value: i64,
}

#[derive(Default)]
struct Server {
    cache: Vec<Option<Box<[u8; 100]>>>,
    seed: u64,
    blocks: u64,
    cached: u64,
}

impl Server {
    fn next_random(&mut self) -> u32 {
        self.seed =
            self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 33) as u32
    }

    #[inline(never)]
    fn build(&mut self, depth: u32) -> Box<Node> {
        self.blocks += 1;
        let mut node = Box::new(Node { left: None, right: None, value: self.next_random().into() });
        if depth > 0 {
            node.left = Some(self.build(depth - 1));
            node.right = Some(self.build(depth - 1));
        }
        node
    }

    #[inline(never)]
    fn cache_insert(&mut self, value: i64) {
        let slot = self.next_random() as usize % 64;
        self.cache[slot] = None;
        self.blocks += 1;
        self.cached += 1;
        self.cache[slot] = Some(Box::new([value as u8; 100]));
    }
}

#[inline(never)]
fn sum(node: &Option<Box<Node>>) -> i64 {
    node.as_ref().map_or(0, |node| node.value + sum(&node.left) + sum(&node.right))
}

#[inline(never)]
fn handle(server: &mut Server, number: u32) -> i64 {
    let tree = Some(server.build(6));
    let result = sum(&tree);
    if number % 4 == 0 {
        server.cache_insert(result);
    }
    result
}

fn main() {
    let requests = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    let mut server = Server { seed: 1, ..Server::default() };
    server.cache.resize_with(64, || None);
    let mut total = 0;
    for number in 0..requests {
        total += handle(&mut server, number);
    }
    let Server { blocks, cached, .. } = server;
    println!("sum {total} calls {requests} blocks {blocks} escaped {cached}");
}
