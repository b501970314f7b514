//! Bar charts as inline SVG: groups of bars by stage, one bar for each kind of memory. Colours come
//! from the page's style sheet.

use std::fmt::{self, Write};

/// A chart of one figure.
pub(crate) struct Chart {
    /// The label of the axis.
    pub(crate) axis: String,
    /// The size of one unit of the axis, in units of the figure.
    pub(crate) unit: f64,
    pub(crate) scale: Scale,
    pub(crate) groups: Vec<Group>,
}

/// The scale of the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    /// Powers of ten, from 1.
    Log,
}

/// The bars of one stage, in the order of the kinds of memory.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) bars: Vec<Bar>,
}

pub(crate) struct Bar {
    pub(crate) value: f64,
    pub(crate) label: String,
    /// Drawn as a line at the end of the bar.
    pub(crate) spread: Option<[f64; 2]>,
}

const WIDTH: f64 = 560.0;
const NAMES_WIDTH: f64 = 92.0;
const LABELS_WIDTH: f64 = 128.0;
const PLOT_WIDTH: f64 = WIDTH - NAMES_WIDTH - LABELS_WIDTH;
const BAR_HEIGHT: f64 = 15.0;
const BAR_STEP: f64 = BAR_HEIGHT + 3.0;
const GROUP_GAP: f64 = 13.0;
const AXIS_HEIGHT: f64 = 40.0;

impl fmt::Display for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bars: usize = self.groups.iter().map(|group| group.bars.len()).sum();
        let plot_height = bars as f64 * BAR_STEP + self.groups.len() as f64 * GROUP_GAP;
        let height = plot_height + AXIS_HEIGHT;
        write!(f, r#"<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{}">"#, self.axis)?;

        let ticks = self.ticks();
        let end = ticks.last().copied().unwrap_or(1.0);
        let x = |value: f64| NAMES_WIDTH + PLOT_WIDTH * self.scale.share(value / self.unit, end);
        for &tick in &ticks {
            let x = x(tick * self.unit);
            write!(f, r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="0" y2="{plot_height}"/>"#)?;
            let y = plot_height + 15.0;
            write!(
                f,
                r#"<text class="tick" x="{x:.1}" y="{y}" text-anchor="middle">{}</text>"#,
                short(tick)
            )?;
        }
        let y = plot_height + 33.0;
        write!(f, r#"<text class="axis" x="{NAMES_WIDTH}" y="{y}">{}</text>"#, self.axis)?;

        let mut y = GROUP_GAP / 2.0;
        for group in &self.groups {
            let middle = y + group.bars.len() as f64 * BAR_STEP / 2.0 + 3.0;
            let right = NAMES_WIDTH - 10.0;
            write!(f, r#"<text x="{right}" y="{middle}" text-anchor="end">{}</text>"#, group.name)?;
            for (mode, bar) in group.bars.iter().enumerate() {
                bar.draw(f, mode, y, x)?;
                y += BAR_STEP;
            }
            y += GROUP_GAP;
        }
        f.write_str("</svg>")
    }
}

impl Bar {
    fn draw(&self, f: &mut impl Write, mode: usize, y: f64, x: impl Fn(f64) -> f64) -> fmt::Result {
        let width = x(self.value) - NAMES_WIDTH;
        write!(
            f,
            r#"<rect class="mode-{mode}" x="{NAMES_WIDTH}" y="{y}" width="{width:.1}" height="{BAR_HEIGHT}" rx="2"/>"#
        )?;
        let mut label_x = x(self.value);
        if let Some([low, high]) = self.spread.map(|spread| spread.map(&x)) {
            let y = y + BAR_HEIGHT / 2.0;
            write!(f, r#"<line class="spread" x1="{low:.1}" x2="{high:.1}" y1="{y}" y2="{y}"/>"#)?;
            label_x = label_x.max(high);
        }
        write!(f, r#"<text x="{:.1}" y="{}">{}</text>"#, label_x + 6.0, y + 12.0, self.label)
    }
}

impl Chart {
    /// The positions of the grid lines, in units of the axis.
    fn ticks(&self) -> Vec<f64> {
        let bars = self.groups.iter().flat_map(|group| &group.bars);
        let most = bars.map(|bar| bar.value / self.unit).fold(1.0, f64::max);
        let ticks: Box<dyn Iterator<Item = f64>> = match self.scale {
            Scale::Linear => {
                let step = nice_step(most / 5.0);
                Box::new((0..).map(move |tick| f64::from(tick) * step))
            }
            Scale::Log => Box::new((0..).map(|power| 10_f64.powi(power))),
        };
        let mut ended = false;
        ticks.take_while(|tick| !std::mem::replace(&mut ended, *tick >= most)).collect()
    }
}

impl Scale {
    /// The position of `value` on the axis, as a fraction of `end`.
    fn share(self, value: f64, end: f64) -> f64 {
        match self {
            Scale::Linear => value / end,
            Scale::Log => value.max(1.0).log10() / end.log10().max(1.0),
        }
    }
}

/// The smallest of 1, 2, 5, 10, 20, 50 … and their tenths that is at least `step`.
fn nice_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let nice = [1.0, 2.0, 5.0].into_iter().find(|nice| nice * power >= step);
    nice.unwrap_or(10.0) * power
}

/// `0.2`, `50`, `1k`, `10M`.
fn short(tick: f64) -> String {
    match tick {
        1e6.. => format!("{}M", tick / 1e6),
        1e3.. => format!("{}k", tick / 1e3),
        // Rounds off floating-point error.
        _ => format!("{}", (tick * 1e3).round() / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(scale: Scale, value: f64) -> Chart {
        let bar = Bar { value, label: "so much".to_owned(), spread: None };
        let groups = vec![Group { name: "stage", bars: vec![bar] }];
        Chart { axis: "figure (unit)".to_owned(), unit: 1.0, scale, groups }
    }

    #[test]
    fn the_axis_ends_at_or_above_the_longest_bar() {
        assert_eq!(chart(Scale::Linear, 12.3).ticks(), [0.0, 5.0, 10.0, 15.0]);
        assert_eq!(chart(Scale::Linear, 1.0).ticks().last(), Some(&1.0));
        assert_eq!(chart(Scale::Log, 250.0).ticks(), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(chart(Scale::Log, 0.0).ticks(), [1.0]);
    }

    #[test]
    fn every_bar_is_drawn_with_its_label() {
        let svg = chart(Scale::Log, 0.0).to_string();
        assert!(
            svg.contains(r#"width="0.0""#) && svg.contains(">so much<") && svg.contains(">stage<"),
            "{svg}"
        );
    }
}
