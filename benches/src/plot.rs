//! Plots as SVG: curves over linear or logarithmic axes, for light and dark colour schemes.

use std::fmt::{Display, Write};

/// One curve.
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// The scale of an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Logarithmic,
}

/// An axis.
pub struct Axis {
    /// Includes the unit.
    pub title: &'static str,
    pub scale: Scale,
}

pub struct Plot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Labels for the positions 0, 1, 2 … instead of numbers.
    pub categories: Vec<String>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 62.0;

const MIDDLE: &str = "text-anchor=\"middle\"";

/// The colour of a contestant, the same in every plot, for light and dark.
const COLOURS: [(&str, &str, &str); 13] = [
    ("ebbtide", "#0b6e99", "#4cc2f1"),
    ("stumpalo", "#c4501b", "#ff9a62"),
    ("bumpalo", "#2e7d32", "#7ed184"),
    ("bump-scope", "#7b3fa0", "#c99bea"),
    ("blink-alloc", "#8a6d00", "#e6c84f"),
    ("multitude", "#b3265e", "#ff86b3"),
    ("std", "#5f6368", "#b0b4b9"),
    ("limit", "#111111", "#f2f2f2"),
    ("", "#b3265e", "#ff86b3"),
    ("ebbtide over mimalloc", "#00897b", "#5fd6c4"),
    ("glibc", "#5f6368", "#b0b4b9"),
    ("mimalloc", "#c4501b", "#ff9a62"),
    ("jemalloc", "#7b3fa0", "#c99bea"),
];

fn colour(name: &str, index: usize) -> usize {
    let at = |name: &str| COLOURS.iter().position(|(known, ..)| *known == name);
    at(name).or_else(|| at(if index == 0 { "ebbtide" } else { "" })).unwrap_or_default()
}

impl Axis {
    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.max(f64::MIN_POSITIVE).log10(),
        }
    }

    /// The range of positions, and the labelled values.
    fn ticks(&self, least: f64, greatest: f64) -> (f64, f64, Vec<f64>) {
        match self.scale {
            Scale::Linear => {
                let rough = (greatest / 6.0).max(f64::MIN_POSITIVE);
                let power = 10_f64.powf(rough.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0]
                    .into_iter()
                    .map(|factor| factor * power)
                    .find(|step| *step >= rough)
                    .unwrap_or(rough);
                let most = (greatest / step).ceil() * step;
                let ticks = (0..=12).map(|n| f64::from(n) * step);
                (0.0, most, ticks.take_while(|tick| *tick <= most * 1.001).collect())
            }
            Scale::Logarithmic => {
                let (low, high) = (least.log10().floor(), greatest.log10().ceil());
                let high = if high > low { high } else { low + 1.0 };
                #[allow(clippy::cast_possible_truncation)]
                let powers = low as i32..=high as i32;
                let few = high - low <= 3.0;
                let steps: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
                let ticks = powers
                    .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)))
                    .filter(|tick| tick.log10() <= high + 1e-9);
                (low, high, ticks.collect())
            }
        }
    }
}

/// Formats a number for an axis.
fn label(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{}G", v / 1e9),
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e3 => format!("{}k", v / 1e3),
        v => {
            let text = format!("{v:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A text at a place, with an attribute for its position or size.
fn ink(x: impl Display, y: impl Display, attribute: &str, text: &str) -> String {
    let text = escaped(text);
    format!("<text class=\"ink\" x=\"{x}\" y=\"{y}\" {attribute}>{text}</text>")
}

impl Plot {
    /// Draws the plot.
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        self.write(&mut svg).expect("a string takes all");
        svg
    }

    #[allow(clippy::cast_precision_loss)]
    fn write(&self, svg: &mut String) -> std::fmt::Result {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let range = |value: fn(&(f64, f64)) -> f64| {
            points().map(value).fold((f64::INFINITY, 0_f64), |(a, b), v| (a.min(v), b.max(v)))
        };
        let (x_range, y_range) = (range(|p| p.0), range(|p| p.1));
        #[allow(clippy::cast_precision_loss)]
        let (x_low, x_high, x_ticks) = if self.categories.is_empty() {
            let (low, _, ticks) = self.x.ticks(x_range.0, x_range.1);
            // Horizontally, the plot ends with the curves.
            match self.x.scale {
                Scale::Linear => (low, x_range.1, ticks),
                Scale::Logarithmic => (x_range.0.log10(), x_range.1.log10().max(low), ticks),
            }
        } else {
            let count = self.categories.len();
            (-0.3, count as f64 - 0.7, (0..count).map(|n| n as f64).collect())
        };
        let (y_low, y_high, y_ticks) = self.y.ticks(y_range.0, y_range.1);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let x =
            |value: f64| LEFT + (self.x.place(value) - x_low) / (x_high - x_low) * (right - LEFT);
        let y = |value: f64| {
            bottom - (self.y.place(value).max(y_low) - y_low) / (y_high - y_low) * (bottom - TOP)
        };

        writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             font-family=\"system-ui, sans-serif\" font-size=\"12\">"
        )?;
        writeln!(svg, "<title>{}</title>", escaped(&self.title))?;
        self.write_style(svg)?;
        writeln!(svg, "<rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>")?;
        writeln!(svg, "{}", ink(16, 26, "font-size=\"15\"", &self.title))?;

        for tick in y_ticks {
            let at = y(tick);
            writeln!(svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>")?;
            let at = format!("{:.1}", at + 4.0);
            writeln!(svg, "{}", ink(LEFT - 8.0, at, "text-anchor=\"end\"", &label(tick)))?;
        }
        for (index, tick) in x_ticks.into_iter().enumerate() {
            let at = x(tick);
            if at < LEFT - 0.5 || at > right + 0.5 {
                continue;
            }
            writeln!(svg, "<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom}\"/>")?;
            let text = self.categories.get(index).cloned().unwrap_or_else(|| label(tick));
            let at = format!("{at:.1}");
            writeln!(svg, "{}", ink(at, bottom + 18.0, MIDDLE, &text))?;
        }
        writeln!(svg, "{}", ink((LEFT + right) / 2.0, HEIGHT - 16.0, MIDDLE, self.x.title))?;
        let middle = (TOP + bottom) / 2.0;
        writeln!(
            svg,
            "<text class=\"ink\" transform=\"translate(20 {middle}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>",
            escaped(self.y.title)
        )?;

        // The legend is in the order of the curves' ends.
        let mut ends: Vec<(usize, f64)> = self
            .series
            .iter()
            .enumerate()
            .filter_map(|(index, series)| Some((index, y(series.points.last()?.1))))
            .collect();
        ends.sort_by(|a, b| a.1.total_cmp(&b.1));
        // Moves up names that would be below the plot.
        let room = HEIGHT - 10.0;
        let below = ends.len() as f64 * 15.0;
        let mut free = TOP.min(room - below);
        let lifted: Vec<f64> = {
            let mut lowest = room;
            let mut places: Vec<f64> = ends
                .iter()
                .rev()
                .map(|(_, end)| {
                    lowest = (end + 4.0).min(lowest);
                    lowest -= 15.0;
                    lowest + 15.0
                })
                .collect();
            places.reverse();
            places
        };
        for ((index, end), place) in ends.into_iter().zip(lifted) {
            let series = &self.series[index];
            let class = colour(&series.name, index);
            let mut line = String::new();
            for (number, (px, py)) in series.points.iter().enumerate() {
                let letter = if number == 0 { 'M' } else { 'L' };
                write!(line, "{letter}{:.1} {:.1}", x(*px), y(*py))?;
            }
            // Categories are not connected by lines.
            let (shown, radius) =
                if self.categories.is_empty() { (true, 2.6) } else { (false, 5.0) };
            if shown {
                writeln!(svg, "<path class=\"line c{class}\" d=\"{line}\"/>")?;
            }
            for (px, py) in &series.points {
                let (px, py) = (x(*px), y(*py));
                writeln!(
                    svg,
                    "<circle class=\"dot c{class}\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"{radius}\"/>"
                )?;
            }
            let at = place.max(free + 12.0);
            free = at + 3.0;
            let last = series.points.last().map_or(right, |point| x(point.0));
            writeln!(
                svg,
                "<path class=\"lead c{class}\" d=\"M{:.1} {end:.1}L{} {:.1}\"/>",
                last + 3.0,
                right + 14.0,
                at - 4.0
            )?;
            writeln!(
                svg,
                "<text class=\"name c{class}\" x=\"{}\" y=\"{at:.1}\">{}</text>",
                right + 18.0,
                escaped(&series.name)
            )?;
        }
        writeln!(svg, "</svg>")
    }

    fn write_style(&self, svg: &mut String) -> std::fmt::Result {
        writeln!(svg, "<style>")?;
        writeln!(svg, ".ground{{fill:#fff}}.ink{{fill:#222}}.grid{{stroke:#ddd;fill:none}}")?;
        writeln!(svg, ".line{{fill:none;stroke-width:2}}.dot{{stroke:none}}")?;
        writeln!(svg, ".lead{{fill:none;stroke-width:1;stroke-dasharray:2 3}}")?;
        for (index, (_, light, _)) in COLOURS.iter().enumerate() {
            write!(svg, ".c{index}{{stroke:{light}}}.dot.c{index},.name.c{index}")?;
            writeln!(svg, "{{fill:{light};stroke:none}}")?;
        }
        writeln!(svg, "@media (prefers-color-scheme:dark){{")?;
        writeln!(svg, ".ground{{fill:#16181c}}.ink{{fill:#e6e6e6}}.grid{{stroke:#3a3d44}}")?;
        for (index, (_, _, dark)) in COLOURS.iter().enumerate() {
            write!(svg, ".c{index}{{stroke:{dark}}}.dot.c{index},.name.c{index}")?;
            writeln!(svg, "{{fill:{dark};stroke:none}}")?;
        }
        writeln!(svg, "}}\n</style>")
    }
}
