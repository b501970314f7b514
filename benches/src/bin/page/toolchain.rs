//! A JavaScript toolchain over its own arena and over others; and what our own toolchain takes for arenas.

use super::{Line, Record, number};

const OWN: &str = "own";
const OTHERS: [&str; 3] = ["bumpalo", "ebbtide-bumpalo", "Arena"];

/// The lines of one file and one use of arenas, each named after its contestant.
fn of<'r>(record: &'r Record, first: &'r Line, who: &str) -> Option<&'r Line> {
    let is_same = |line: &&Line| ["file", "arenas"].iter().all(|key| line[*key] == first[*key]);
    record.lines.iter().filter(is_same).find(|line| line["contestant"] == who)
}

/// What the toolchain's own arena takes, divided by what another takes.
fn ratio(record: &Record, own: &Line, who: &str, column: &str) -> f64 {
    of(record, own, who).map_or(f64::NAN, |line| number(own, column) / number(line, column))
}

fn owns(record: &Record) -> impl Iterator<Item = &Line> {
    record.lines.iter().filter(|line| line["contestant"] == OWN)
}

/// The geometric mean of the ratios of all files.
pub(crate) fn mean(record: &Record, arenas: &str, who: &str, column: &str) -> Option<f64> {
    let owns = owns(record).filter(|own| own["arenas"] == arenas);
    let logarithms: Vec<_> = owns.map(|own| ratio(record, own, who, column).ln()).collect();
    #[allow(clippy::cast_precision_loss, reason = "a few files")]
    let count = logarithms.len() as f64;
    (count > 0.0).then(|| (logarithms.iter().sum::<f64>() / count).exp())
}

/// The table: times of the toolchain's own arena, and how much others are ahead of it.
pub(crate) fn table(record: &Record) -> String {
    let mut text = String::from(
        "| file | arenas | its own: ms | bumpalo | `ebbtide-bumpalo` | `Arena` | peak: own, MB | bumpalo \
         | `ebbtide-bumpalo` | `Arena` |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for own in owns(record) {
        text += &format!("| {} | {} | {:.1}", own["file"], own["arenas"], number(own, "all"));
        for who in OTHERS {
            text += &format!(" | {:.2}", ratio(record, own, who, "all"));
        }
        text += &format!(" | {:.0}", number(own, "peak") * 1024.0 / 1e6);
        for who in OTHERS {
            text += &format!(" | {:.2}", ratio(record, own, who, "peak"));
        }
        text += " |\n";
    }
    for arenas in ["new", "reset"] {
        text += &format!("| mean | {arenas} | ");
        for column in ["all", "peak"] {
            for who in OTHERS {
                let mean = mean(record, arenas, who, column).unwrap_or(f64::NAN);
                text += &format!(" | {mean:.2}");
            }
            text += if column == "all" { " | " } else { " |\n" };
        }
    }
    text
}

/// What each crate adds to a clean build, in seconds.
pub(crate) fn compile(record: &Record) -> String {
    let mut text = String::from("| crate | check | dev | release |\n|---|---:|---:|---:|\n");
    for line in &record.lines {
        text += &format!("| `{}`", line["contestant"]);
        for column in ["check", "dev", "release"] {
            text += &format!(" | {:.1}", number(line, column));
        }
        text += " |\n";
    }
    text
}
