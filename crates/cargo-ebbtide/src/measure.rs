//! Tries what may be worth a scope, within a budget of time.

use crate::{
    advice::{Advice, NEARLY},
    compare::{Comparison, Runs, Saved},
    probe,
    refusal::Refusal,
};
use cargo_ebbtide::trial::entry::Entry;
use std::{collections::BTreeMap, path::PathBuf, time::Instant};

/// The most functions that are tried of those whose calls lie in one another.
const MOST_NESTED: usize = 3;

/// The most functions that are tried.
const MOST_TRIED: usize = 8;

/// What trying has shown.
pub(crate) struct Findings {
    /// By the index of a function, the comparison, or why there is none.
    pub(crate) tried: BTreeMap<usize, Result<Comparison, Refusal>>,
    /// Several functions that gain, at once.
    pub(crate) together: Option<(Vec<usize>, Comparison)>,
}

impl Findings {
    /// The comparison of a function, if it was tried.
    pub(crate) fn of(&self, index: usize) -> Option<&Comparison> {
        self.tried.get(&index).and_then(|tried| tried.as_ref().ok())
    }

    pub(crate) fn is_gain(&self, index: usize) -> bool {
        self.of(index).is_some_and(Comparison::is_gain)
    }

    /// Whether some function gains.
    pub(crate) fn are_gains(&self) -> bool {
        self.tried.keys().any(|index| self.is_gain(*index))
    }

    fn saved(&self, index: usize) -> Saved {
        self.of(index).map(Comparison::saved).unwrap_or_default()
    }
}

/// Tries the functions of the advice, and writes into it which of them are worth a scope: of those whose
/// calls lie in one another the best. Those that cannot be tried stay where they are, behind the others.
pub(crate) fn measure(
    advice: &mut Advice,
    runs: &mut Runs<'_>,
    modules: &[PathBuf],
    end: Instant,
) -> Result<Findings, Refusal> {
    let mut findings = Findings { tried: BTreeMap::new(), together: None };
    let room = runs.room()?.min(MOST_TRIED);
    let mut entries: BTreeMap<usize, Vec<Entry>> = BTreeMap::new();
    // The first of each set, then the second of each.
    for place in 0..MOST_NESTED {
        for set in &advice.sets {
            let entered = set.iter().filter(|index| entries.contains_key(index)).count();
            if entries.len() == room || entered > place {
                continue;
            }
            for index in set {
                if entries.contains_key(index) || findings.tried.contains_key(index) {
                    continue;
                }
                let function = &advice.all[*index].function;
                let probed = match Refusal::inlined(function) {
                    Some(inlined) => Err(inlined),
                    None => probe::entries(modules, &function.name),
                };
                match probed {
                    Ok(found) => {
                        entries.insert(*index, found);
                        break;
                    }
                    Err(why) => findings.tried.insert(*index, Err(why)),
                };
            }
        }
    }
    if advice.sets.len() > 1 {
        // Some time is left for those that gain together.
        runs.set_end(end - end.saturating_duration_since(Instant::now()) / 4);
    }
    let (indices, sets): (Vec<usize>, Vec<Vec<Entry>>) = entries.clone().into_iter().unzip();
    findings.tried.extend(indices.into_iter().zip(runs.compare(&sets)?));

    let (mut chosen, mut expected) = (Vec::new(), Vec::new());
    for set in &advice.sets {
        let first = set.first().copied().filter(|first| advice.chosen.contains(first));
        if let Some(inlined) = first.filter(|first| advice.all[*first].function.host.is_some()) {
            expected.push(inlined);
            continue;
        }
        let gains = || set.iter().copied().filter(|index| findings.is_gain(*index));
        let best = gains().map(|index| findings.saved(index).share).fold(0.0, f64::max);
        chosen.extend(gains().find(|index| findings.saved(*index).share >= NEARLY * best));
        if set.iter().all(|index| findings.of(*index).is_none()) {
            expected.extend(advice.chosen.iter().copied().filter(|index| set.contains(index)));
        }
    }
    chosen.sort_by(|a, b| findings.saved(*b).share.total_cmp(&findings.saved(*a).share));
    if chosen.len() > 1 {
        let all: Vec<Entry> = chosen.iter().flat_map(|index| entries[index].clone()).collect();
        runs.set_end(end);
        let together = runs.compare(&[all])?.into_iter().next().and_then(Result::ok);
        findings.together = together.map(|together| (chosen.clone(), together));
    }
    advice.chosen = chosen.into_iter().chain(expected).collect();
    Ok(findings)
}
