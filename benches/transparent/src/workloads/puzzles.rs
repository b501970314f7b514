//! Solves sliding puzzles with the A* of pathfinding. States are vectors in a hash map.

use super::text::Numbers;
use pathfinding::directed::astar::astar;

pub(super) fn puzzles(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(17);
    let mut shuffle = |_| {
        let mut state: Vec<u8> = (0..9).collect();
        for _ in 0..60 {
            let next = successors(&state);
            state = next[numbers.below(next.len())].0.clone();
        }
        state
    };
    let starts: Vec<Vec<u8>> = (0..size).map(&mut shuffle).collect();
    move || once(&starts)
}

const SIDE: usize = 3;

/// The states that one move leads to, each at the cost of one.
fn successors(state: &[u8]) -> Vec<(Vec<u8>, usize)> {
    let hole = state.iter().position(|&tile| tile == 0).expect("there is a hole");
    let (row, column) = (hole / SIDE, hole % SIDE);
    let moves = [
        (row > 0).then(|| hole - SIDE),
        (row + 1 < SIDE).then(|| hole + SIDE),
        (column > 0).then(|| hole - 1),
        (column + 1 < SIDE).then(|| hole + 1),
    ];
    let moved = |tile| {
        let mut state = state.to_vec();
        state.swap(hole, tile);
        (state, 1)
    };
    moves.into_iter().flatten().map(moved).collect()
}

/// The sum of the distances of the tiles from their goals.
fn distance(state: &[u8]) -> usize {
    let tiles = state.iter().enumerate().filter(|&(_, &tile)| tile != 0);
    tiles
        .map(|(place, &tile)| {
            let tile = usize::from(tile);
            (place / SIDE).abs_diff(tile / SIDE) + (place % SIDE).abs_diff(tile % SIDE)
        })
        .sum()
}

/// The number of moves that all puzzles take.
#[inline(never)]
fn once(starts: &[Vec<u8>]) -> u64 {
    let solve = |start: &Vec<u8>| {
        let solution = astar(
            start,
            |state| successors(state),
            |state| distance(state),
            |state| distance(state) == 0,
        );
        solution.expect("it was shuffled by moves").1 as u64
    };
    starts.iter().map(solve).sum()
}
