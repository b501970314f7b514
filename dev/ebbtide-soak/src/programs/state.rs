//! Programs with long-lived state: compilers, interpreters, plugins, logs, editors, indexes.

use super::{each_step, in_scopes, keep, total};
use crate::{
    inputs::{Random, Record, answer, work},
    meter,
    scopes::scope,
};
use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    fmt::Write,
    rc::Rc,
    sync::Arc,
};

/// Parses one unit after the other into a hand-written arena, interns names for ever, and keeps the
/// output of the last 200 units.
pub(super) fn compiler() -> u64 {
    /// Grows by whole chunks, so that references stay valid.
    #[derive(Default)]
    struct Nodes {
        chunks: Vec<Vec<(u32, String)>>,
    }
    impl Nodes {
        fn add(&mut self, name: u32, text: String) {
            if self.chunks.last().is_none_or(|chunk| chunk.len() == chunk.capacity()) {
                self.chunks.push(Vec::with_capacity(256));
            }
            if let Some(chunk) = self.chunks.last_mut() {
                chunk.push((name, text));
            }
        }
    }
    let mut names: HashMap<String, u32> = HashMap::new();
    let mut emitted: VecDeque<Vec<Box<[u32]>>> = VecDeque::new();
    each_step(|_, random, sum| {
        let code = scope(|| {
            let mut nodes = Nodes::default();
            for _ in 0..500 + random.below(500) {
                let text = random.words(2);
                let name = format!("{text} {}", random.below(20));
                let next = u32::try_from(names.len()).unwrap_or(0);
                nodes.add(*names.entry(name).or_insert(next), text);
            }
            let nodes: Vec<_> = nodes.chunks.iter().flatten().collect();
            let emit = |function: &[&(u32, String)]| function.iter().map(|node| node.0).collect();
            nodes.chunks(50).map(emit).collect::<Vec<Box<[u32]>>>()
        });
        *sum += total(code.iter().map(|function| function.len() as u64));
        keep(&mut emitted, code, 200);
    })
}

/// Plugins are loaded, called, and replaced by newer versions.
pub(super) fn plugins() -> u64 {
    type Plugin = Box<dyn Fn(&str) -> String>;
    fn load(random: &mut Random) -> Plugin {
        let table: HashMap<String, String> =
            (0..50).map(|_| (random.word().to_owned(), random.words(2))).collect();
        Box::new(move |text| {
            text.split(' ').map(|word| table.get(word).map_or(word, String::as_str)).collect()
        })
    }
    let mut random = Random::new(1);
    let mut plugins: Vec<Plugin> = (0..300).map(|_| scope(|| load(&mut random))).collect();
    let mut sum = 0;
    for step in 0..meter::steps() {
        scope(|| {
            let text = random.words(12);
            let called = &plugins[random.below(plugins.len())];
            sum += called(&text).len() as u64;
            if step % 4 == 0 {
                let replaced = random.below(plugins.len());
                plugins[replaced] = load(&mut random);
            }
        });
        meter::step();
    }
    sum
}

/// A value of the interpreted program.
enum Value {
    Number(u64),
    Text(Rc<str>),
    List(Vec<Rc<Value>>),
}

/// An interpreter whose variables live as long as the program runs.
fn interpret(around: impl Fn(&mut dyn FnMut())) -> u64 {
    let mut variables: HashMap<String, Rc<Value>> = HashMap::new();
    each_step(|step, random, sum| {
        around(&mut || {
            let name = format!("{} {}", random.word(), random.below(200));
            let value = match random.below(3) {
                0 => Value::Number(step),
                1 => Value::Text(random.words(5).into()),
                _ => {
                    let others = (0..random.below(6))
                        .filter_map(|_| {
                            let other = format!("{} {}", random.word(), random.below(200));
                            variables.get(&other).cloned()
                        })
                        .filter(|other| !matches!(**other, Value::List(_)));
                    Value::List(others.collect())
                }
            };
            *sum += match &value {
                Value::Number(number) => number % 10,
                Value::Text(text) => text.len() as u64,
                Value::List(items) => items.len() as u64,
            };
            variables.insert(name, Rc::new(value));
        });
    })
}

/// The whole program in one scope.
pub(super) fn interpreter_in_one_scope() -> u64 {
    scope(|| interpret(|work| work()))
}

/// A scope per statement.
pub(super) fn interpreter() -> u64 {
    interpret(|work| scope(work))
}

/// A log grows to 30,000 lines and one long text, and is then rotated.
pub(super) fn growing_log() -> u64 {
    let mut lines: Vec<String> = Vec::new();
    let mut text = String::new();
    each_step(|step, random, sum| {
        scope(|| {
            work(random);
            let line = format!("{step}: {}", random.words(8));
            // Formatting into a string does not fail.
            let _ = writeln!(text, "{line}");
            lines.push(line);
        });
        if lines.len() == 30_000 {
            *sum += text.len() as u64;
            (lines, text) = Default::default();
        }
    })
}

/// A document of shared paragraphs. Every edit makes a version, and 500 edits can be undone.
pub(super) fn editor() -> u64 {
    type Version = Vec<Arc<str>>;
    let mut random = Random::new(1);
    let mut versions: VecDeque<Version> =
        VecDeque::from([(0..300).map(|_| random.words(20).into()).collect::<Version>()]);
    scope(|| {
        in_scopes(|_, random, sum| {
            let mut version = versions.back().cloned().unwrap_or_default();
            let place = random.below(version.len());
            let words = 10 + random.below(20);
            version[place] = random.words(words).into();
            *sum += version[place].len() as u64;
            keep(&mut versions, version, 500);
        })
    })
}

/// An ordered index. Entries are inserted and removed at random places.
pub(super) fn index() -> u64 {
    let mut index: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    in_scopes(|step, random, sum| {
        let key = format!("{} {}", random.words(2), random.below(200));
        index.entry(key).or_default().push(step);
        if index.len() > 30_000 {
            let from = random.words(2);
            let found = index.range(from..).next().map(|(key, _)| key.clone());
            let gone = found
                .and_then(|key| index.remove(&key))
                .or_else(|| index.pop_first().map(|(_, places)| places));
            *sum += gone.map_or(0, |places| places.len() as u64);
        }
    })
}

/// An interner: every scope adds a little, and nothing is ever removed.
pub(super) fn interner() -> u64 {
    let mut names: HashSet<Box<str>> = HashSet::new();
    in_scopes(|step, random, _| {
        work(random);
        // Grows by half until the end; the first half of the run makes most entries.
        let name = if step < meter::steps() / 2 || random.below(10) == 0 {
            format!("{} {step}", random.words(3))
        } else {
            random.words(1)
        };
        names.insert(name.into_boxed_str());
    });
    names.len() as u64
}

/// A graph whose nodes gain and lose edges; searches from it allocate.
pub(super) fn graph() -> u64 {
    const NODES: usize = 5_000;
    let mut edges: Vec<Vec<u32>> = vec![Vec::new(); NODES];
    in_scopes(|_, random, sum| {
        let from = random.below(NODES);
        if edges[from].len() > 40 {
            edges[from] = Vec::new();
        }
        for _ in 0..8 {
            edges[from].push(u32::try_from(random.below(NODES)).unwrap_or(0));
        }
        let mut seen = HashSet::from([from]);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for &next in &edges[node] {
                if seen.len() < 100 && seen.insert(next as usize) {
                    queue.push_back(next as usize);
                }
            }
        }
        *sum += seen.len() as u64;
    })
}

/// Scopes nested eight deep. Each returns one record to the scope around it.
pub(super) fn nested() -> u64 {
    fn descend(random: &mut Random, depth: usize, kept: &mut Vec<Record>) {
        scope(|| {
            work(random);
            if depth > 0 {
                descend(random, depth - 1, kept);
            }
            kept.push(answer(random));
        });
    }
    let mut held = VecDeque::new();
    each_step(|_, random, sum| {
        let mut kept = Vec::new();
        descend(random, 8, &mut kept);
        *sum += total(kept.iter().map(Record::sum));
        keep(&mut held, kept, 500);
    })
}

/// The stages of a batch job: reads a document into a tree, groups the words of its texts, keeps
/// one in eight records. Only the sums remain.
pub(super) fn stages() -> u64 {
    each_step(|_, random, sum| {
        let texts: Vec<String> = (0..10_000).map(|_| random.words(20)).collect();
        *sum += scope(|| {
            let mut groups: HashMap<String, Vec<(usize, String)>> = HashMap::new();
            for (place, text) in texts.iter().enumerate() {
                for word in text.split(' ') {
                    groups.entry(word.to_uppercase()).or_default().push((place, word.to_owned()));
                }
            }
            total(groups.values().map(|places| places.len() as u64))
        });
        let kept: Vec<Record> = scope(|| {
            let records: Vec<Record> = (0..4_000).map(|_| answer(random)).collect();
            records.into_iter().step_by(8).collect()
        });
        *sum += total(kept.iter().map(Record::sum));
    })
}

/// One scope with maps that alternately grow to 20,000 entries and shrink to 100.
pub(super) fn maps_that_grow_and_shrink() -> u64 {
    scope(|| {
        let mut maps: Vec<HashMap<u64, String>> = (0..8).map(|_| HashMap::new()).collect();
        each_step(|step, random, sum| {
            let map = &mut maps[random.below(8)];
            map.insert(step, random.words(3));
            if map.len() == 20_000 {
                map.retain(|key, _| key % 200 == 0);
                map.shrink_to_fit();
                *sum += map.len() as u64;
            }
        })
    })
}
