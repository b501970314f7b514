//! Lines of text, grouped and sorted by strings: much is allocated, and a small summary stays.
//!
//! ```text
//! cargo run --release --package ebbtide-global --example group_by -- [LINES]
//! ```
//! `group` knows nothing of arenas. What it returns was made in one, and outlives it.
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

/// The cities by name: how many customers each has, what they paid, and which of them paid most.
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

    // The same, and only a copy of the result leaves the arena: nothing of it stays behind.
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
