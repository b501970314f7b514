//! Groups and sorts lines of text by strings: allocates many blocks, and keeps a small summary.
//!
//! ```text
//! cargo run --release --package ebbtide-global --example group_by -- [LINES]
//! ```
//! `group` is unaware of arenas. Its result is allocated in one, and outlives the scope.
use ebbtide_global::{Options, Scoped, arena_with, report, take_out};
use std::{alloc::System, collections::HashMap, env, error::Error, fmt::Write, time::Instant};

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

#[derive(Clone, Debug, PartialEq)]
struct City {
    name: String,
    customers: usize,
    total: u64,
    best: String,
}

/// The cities by name: the number of customers, the sum that they paid, and the customer who paid
/// most.
fn group(lines: &str) -> Vec<City> {
    let mut cities: HashMap<String, HashMap<String, u64>> = HashMap::new();
    for line in lines.lines() {
        let mut cells = line.split(';');
        let mut cell = || cells.next().unwrap_or_default().to_owned();
        let (city, customer, paid) = (cell(), cell(), cell());
        *cities.entry(city).or_default().entry(customer).or_default() +=
            paid.parse::<u64>().unwrap_or(0);
    }
    let mut cities: Vec<City> = cities
        .into_iter()
        .map(|(name, customers)| {
            let mut customers: Vec<(String, u64)> = customers.into_iter().collect();
            customers.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            City {
                name,
                customers: customers.len(),
                total: customers.iter().map(|(_, paid)| paid).sum(),
                best: customers.swap_remove(0).0,
            }
        })
        .collect();
    cities.sort_by(|a, b| a.name.cmp(&b.name));
    cities
}

fn main() -> Result<(), Box<dyn Error>> {
    let count: usize = env::args().nth(1).map_or(Ok(100_000), |argument| argument.parse())?;
    let mut lines = String::new();
    for n in 0..count {
        let (city, customer) = (n * 31 % 47, n * 17 % 1_009);
        writeln!(lines, "city {city:02};customer {customer:04};{}", n % 100)?;
    }

    let start = Instant::now();
    let on_heap = group(&lines);
    let heap_time = start.elapsed();

    let start = Instant::now();
    let in_scope = arena_with(&Options::new().label("group"), || group(&lines));
    let scope_time = start.elapsed();

    // The same, but only a copy of the result leaves the arena, so no chunk stays pinned.
    let start = Instant::now();
    let copied = arena_with(&Options::new().label("group, copied out"), || {
        let cities = group(&lines);
        take_out(|| cities.clone())
    });
    let copied_time = start.elapsed();

    assert_eq!(on_heap, in_scope);
    assert_eq!(on_heap, copied);
    println!("{count} lines, {} cities, the first: {:?}", on_heap.len(), on_heap.first());
    println!("heap: {heap_time:.1?}, scope: {scope_time:.1?}, copied out: {copied_time:.1?}");
    println!("{}", report());
    Ok(())
}
