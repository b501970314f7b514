//! The shape of a random program, and how it is drawn.

use crate::inputs::Random;
use std::{
    array,
    fmt::{self, Display, Formatter},
};

/// Bytes that a part of a program may have alive at once.
const MOST_BYTES: usize = 64 << 20;

/// Blocks that a turn may make, in all of its scopes.
const MOST_BLOCKS: usize = 20_000;

/// The number of sizes that are drawn before a program starts.
pub const SAMPLES: usize = 1 << 10;

/// What a program does. Each of its threads has a loop, whose turns are those of a task.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The number of threads.
    pub threads: usize,
    /// Whether the whole loop of each thread is in a scope.
    pub around: bool,
    /// One task or two.
    pub tasks: Vec<Task>,
    /// How two tasks share the turns.
    pub order: Order,
}

/// The order of two tasks.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// The first task has the first half of the turns.
    Phases,
    /// The second task has one turn in this many, at random.
    Mixed(usize),
}

/// What happens in a turn.
#[derive(Clone, Debug)]
pub struct Task {
    /// The number that distinguishes the code of its scopes: tasks with one number share it.
    pub site: usize,
    /// How its scopes are opened.
    pub way: Way,
    /// The blocks that each scope makes.
    pub blocks: usize,
    /// The blocks that are made outside of scopes after each turn.
    pub beyond: usize,
    /// The sizes of the blocks.
    pub sizes: Sizes,
    /// The most temporaries of a scope that are alive together.
    pub live: usize,
    /// Which temporary is freed when there are more.
    pub freed: Freed,
    /// How some of the blocks grow.
    pub growth: Option<Growth>,
    /// Whether each scope also writes a text, a little for each block.
    pub text: bool,
    /// How often each byte is used: 0 for the first few only, 1 if they are written, more if they
    /// are read too.
    pub passes: usize,
    /// The numbers computed for each block.
    pub compute: usize,
    /// What outlives its scope.
    pub kept: Option<Kept>,
}

/// How the scopes of a task are opened.
#[derive(Clone, Debug)]
pub enum Way {
    /// Nested, the outermost first. Empty only if a scope is around the loop.
    Nested(Vec<Level>),
    /// Each thread polls futures in turn. Every poll is a scope.
    Polled {
        /// The futures of a thread.
        futures: usize,
        /// The polls of a future.
        polls: usize,
        /// Whether all threads poll the same futures.
        shared: bool,
    },
}

/// A level of nested scopes.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// How many scopes, one after the other, are in each of the level above.
    pub count: usize,
    /// Whether the level leaves the arena instead, with `outside`.
    pub outside: bool,
}

/// A distribution of sizes in bytes: as many between any two powers of two.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The smallest.
    pub least: usize,
    /// The largest.
    pub most: usize,
    /// Whether all are powers of two.
    pub powers: bool,
    /// One block in this many has 1 to 200 KiB.
    pub large: Option<usize>,
}

/// The choice among temporaries.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "they say it")]
pub enum Freed {
    Newest,
    Oldest,
    Any,
}

/// Blocks that grow until they have their size.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// One block in this many grows.
    pub one_in: usize,
    /// The number of pieces that it grows by.
    pub pieces: usize,
    /// Whether its capacity shrinks to the size at last.
    pub shrinks: bool,
}

/// What outlives its scope, where, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// One block in this many.
    pub one_in: usize,
    /// Where it is kept.
    pub store: Store,
    /// Whether one store serves all threads.
    pub shared: bool,
    /// Whether it is put into the store after the scope, as its result.
    pub returned: bool,
    /// The most blocks of a store.
    pub most_blocks: usize,
    /// The most bytes of a store.
    pub most_bytes: usize,
    /// Whether a full store loses all blocks, instead of one for each new one.
    pub cleared: bool,
    /// Who frees the blocks.
    pub by: By,
    /// Whether a block in the store grows when others are added.
    pub grows: bool,
}

/// A kind of store.
#[derive(Clone, Copy, Debug)]
pub enum Store {
    /// A vector. Any block is replaced.
    Vector,
    /// A ring, which loses its oldest block.
    Ring,
    /// A hash map with random keys, which loses the entry that was set least recently.
    Map,
    /// A tree with random keys, which loses the least.
    Tree,
    /// A linked list, which loses its newest block.
    List,
    /// A queue, which the next thread takes blocks from.
    Queue,
}

/// Who frees kept blocks.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// The thread that kept them, in a scope.
    Scope,
    /// That thread, outside of scopes.
    Outside,
    /// The next thread, outside of scopes.
    Another,
    /// The main thread, at the end. Once the store is full, nothing more is kept.
    End,
}

impl Shape {
    /// Draws the shape of a seed.
    pub fn draw(seed: u64) -> Shape {
        let mut random = Random::new(seed);
        // The first numbers of similar seeds are similar.
        for _ in 0..16 {
            random.number();
        }
        let random = &mut random;
        let threads = [1, 1, 1, 1, 2, 2, 2, 3, 4, 4][random.below(10)];
        let around = random.one_in(4);
        let mut tasks = vec![Task::draw(random, threads, around)];
        if random.one_in(3) {
            let mut second = Task::draw(random, threads, around);
            second.site = random.below(2);
            tasks.push(second);
        }
        let order = if random.one_in(2) { Order::Phases } else { Order::Mixed(random.log(2, 100)) };
        Shape { threads, around, tasks, order }
    }
}

impl Task {
    fn draw(random: &mut Random, threads: usize, around: bool) -> Task {
        let sizes = Sizes::draw(random);
        let mut way = Way::draw(random, around);
        let mut blocks = random.log(1, 3_000);
        match &mut way {
            // A loop in one scope, whose live bytes swing.
            Way::Nested(levels) if levels.is_empty() => {
                blocks = random.log(1 << 20, MOST_BYTES) / sizes.mean();
                blocks = blocks.min(5 * MOST_BLOCKS);
            }
            Way::Nested(levels) => {
                let mut scopes = 1;
                for level in levels {
                    level.count = level.count.min((MOST_BLOCKS / blocks / scopes).max(1));
                    scopes *= level.count;
                }
            }
            Way::Polled { futures, .. } => {
                blocks = blocks.min(300);
                *futures = (*futures).min(MOST_BYTES / sizes.mean() / blocks).max(1);
            }
        }
        let shares_jobs = matches!(way, Way::Polled { shared: true, .. });
        let blocks = blocks.clamp(1, MOST_BYTES / sizes.mean());
        Task {
            site: 0,
            way,
            blocks,
            beyond: if random.one_in(4) { random.log(1, blocks) } else { 0 },
            sizes,
            live: if random.below(3) > 0 { blocks } else { random.log(1, blocks) },
            freed: [Freed::Newest, Freed::Oldest, Freed::Any][random.below(3)],
            growth: random.one_in(2).then(|| Growth {
                one_in: random.log(1, 64),
                pieces: random.log(2, 64),
                shrinks: random.one_in(4),
            }),
            text: random.one_in(4),
            passes: [0, 0, 1, 1, 1, 1, 1, 2, 4][random.below(9)],
            compute: if random.one_in(4) { random.log(4, 100) } else { 0 },
            kept: (random.below(4) > 0).then(|| Kept::draw(random, threads, shares_jobs)),
        }
    }
}

impl Way {
    fn draw(random: &mut Random, around: bool) -> Way {
        if !around && random.one_in(8) {
            let (futures, polls) = (random.log(1, 1_000), random.log(2, 32));
            return Way::Polled { futures, polls, shared: random.one_in(2) };
        }
        let depth = [0, 0, 0, 0, 1, 1, 2, 3][random.below(8)] + usize::from(!around);
        let mut level = |depth| Level {
            count: if depth == 0 { 1 } else { random.log(1, 16) },
            outside: depth > 0 && random.one_in(5),
        };
        Way::Nested((0..depth).map(&mut level).collect())
    }
}

impl Sizes {
    fn draw(random: &mut Random) -> Sizes {
        let even = |least, most| Sizes { least, most, powers: false, large: None };
        match random.below(7) {
            0 => {
                let size = random.log(8, 256);
                even(size, size)
            }
            1 => even(8, random.log(32, 256)),
            2 | 3 => even(8, 1 << 10),
            4 => Sizes { powers: true, ..even(8, 1 << random.log(6, 14)) },
            5 => even(8, 23 << 10),
            _ => Sizes { large: Some(random.log(10, 1_000)), ..even(8, 1 << 10) },
        }
    }

    /// Sizes of this distribution, of which a program takes any.
    pub fn samples(&self) -> [usize; SAMPLES] {
        let mut random = Random::new(7);
        array::from_fn(|number| {
            if self.large.is_some_and(|one_in| number % one_in == 0) {
                return random.log(1 << 10, 200 << 10);
            }
            let size = random.log(self.least, self.most);
            if self.powers { 1 << size.ilog2() } else { size }
        })
    }

    fn mean(&self) -> usize {
        self.samples().iter().sum::<usize>() / SAMPLES
    }
}

impl Kept {
    fn draw(random: &mut Random, threads: usize, shares_jobs: bool) -> Kept {
        use {By::*, Store::*};
        let is_alone = threads == 1;
        let shared = random.one_in(3) && !is_alone;
        Kept {
            one_in: random.log(2, 500),
            store: match [Vector, Ring, Map, Tree, List, Queue][random.below(6)] {
                Queue if is_alone => Ring,
                store => store,
            },
            shared,
            returned: random.one_in(3),
            most_blocks: random.log(16, 200_000),
            most_bytes: random.log(256 << 10, MOST_BYTES),
            cleared: random.one_in(4),
            by: match [Scope, Scope, Outside, Another, End][random.below(5)] {
                Another if is_alone => Outside,
                by => by,
            },
            // With several threads, their order would decide which block grows.
            grows: random.one_in(4) && !shared && !shares_jobs,
        }
    }
}

impl Display for Shape {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{} thread{}", self.threads, if self.threads == 1 { "" } else { "s" })?;
        if self.around {
            write!(to, " in a scope each")?;
        }
        for (number, task) in self.tasks.iter().enumerate() {
            match self.order {
                _ if number == 0 => write!(to, ": {task}")?,
                Order::Phases => write!(to, " | then at site {}: {task}", task.site)?,
                Order::Mixed(n) => write!(to, " | 1 turn in {n} at site {}: {task}", task.site)?,
            }
        }
        Ok(())
    }
}

impl Display for Task {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match &self.way {
            Way::Nested(levels) => {
                for level in levels {
                    let name = if level.outside { "outside" } else { "scope" };
                    write!(to, "{} {name} of ", level.count)?;
                }
            }
            Way::Polled { futures, polls, shared } => {
                let shared = if *shared { "shared " } else { "" };
                write!(to, "{futures} {shared}futures of {polls} polls of ")?;
            }
        }
        let Sizes { least, most, powers, large } = self.sizes;
        write!(to, "{} x {least}-{most} B", self.blocks)?;
        if powers {
            write!(to, " powers")?;
        }
        if let Some(one_in) = large {
            write!(to, " and 1 in {one_in} large")?;
        }
        if self.live < self.blocks {
            write!(to, "; {} live", self.live)?;
        }
        if let Some(Growth { one_in, pieces, .. }) = self.growth {
            write!(to, "; 1 in {one_in} grows by {pieces}")?;
        }
        if self.beyond > 0 {
            write!(to, "; {} outside", self.beyond)?;
        }
        match self.kept {
            Some(Kept { one_in, store, shared, most_blocks, most_bytes, by, .. }) => {
                let store = format!("{store:?}").to_lowercase();
                let by = format!("{by:?}").to_lowercase();
                let shared = if shared { "shared " } else { "" };
                let kib = most_bytes >> 10;
                write!(
                    to,
                    "; 1 in {one_in} kept in a {shared}{store} of {most_blocks} or {kib} KiB"
                )?;
                write!(to, " freed by {by}")
            }
            None => write!(to, "; none kept"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::program, *};

    #[test]
    fn a_seed_draws_the_same_program_on_every_machine() {
        let shape = Shape::draw(3);
        assert_eq!(
            shape.to_string(),
            "2 threads: 26 shared futures of 2 polls of 45 x 8-1024 B; 1 in 49 grows by 13; \
             1 in 12 kept in a queue of 6532 or 11066 KiB freed by scope"
        );
        assert_eq!(program::run(shape, 10), 148_549_560);
    }

    /// Programs that were several times slower in scopes. The generator must go on to draw their
    /// kinds often.
    #[test]
    fn three_hundred_seeds_draw_each_known_cliff() {
        let draws = |what: &str, is: fn(&Shape, &Task) -> bool| {
            let is = |shape: &Shape| shape.tasks.iter().any(|task| is(shape, task));
            let count = (0..300).map(Shape::draw).filter(is).count();
            assert!(count >= 5, "{what}: {count}");
        };
        draws("scopes of two or three blocks that keep few", |_, task| {
            let kept = task.kept.is_some_and(|kept| (8..200).contains(&kept.one_in));
            (2..=3).contains(&task.blocks) && kept
        });
        draws("a loop in one scope whose live bytes swing above 12 MiB", |shape, task| {
            let live = task.live * task.sizes.mean();
            shape.around && matches!(&task.way, Way::Nested(_)) && live > 12 << 20
        });
        draws("up to 23 KiB, some of it freed by another thread", |_, task| {
            let kept = task.kept.is_some_and(|kept| {
                kept.one_in < 100
                    && (matches!(kept.by, By::Another) || matches!(kept.store, Store::Queue))
            });
            task.sizes.most > 20 << 10 && kept
        });
        draws("nested scopes of one block", |_, task| {
            let is_nested = matches!(&task.way, Way::Nested(levels) if levels.len() > 1);
            task.blocks == 1 && is_nested
        });
    }
}
