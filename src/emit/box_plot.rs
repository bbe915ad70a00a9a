//! Box plots as an SVG picture, drawn as in Kim and Porter (section 6): one box a distribution, the median as a dot.

use std::fmt::Write as _;

use super::graph_svg::escaped;
use crate::simulate::statistics::{BoxParts, box_parts};

/// Boxes over one scale.
#[derive(Debug, Clone)]
pub struct Plot<'a> {
    pub title: &'a str,
    /// What the scale counts.
    pub unit: &'a str,
    pub boxes: Vec<(&'a str, &'a [f64])>,
}

const MARGIN: f64 = 20.0;
const LABELS: f64 = 130.0;
const WIDTH: f64 = 520.0;
const TITLE: f64 = 34.0;
const ROW: f64 = 22.0;
const SCALE: f64 = 48.0;

/// In light and in dark surroundings, and without touching the style of a page that holds the picture.
const STYLE: &str = "
.rts-box text{font:12px ui-monospace,'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace;fill:#1f2328}
.rts-box .paper{fill:#fff}
.rts-box .title{font-size:14px;font-weight:bold}
.rts-box .name{text-anchor:end}
.rts-box .number{font-size:10px;text-anchor:middle;fill:#59636e}
.rts-box .grid{stroke:#d1d9e0;fill:none}
.rts-box .box{fill:#eaeef2;stroke:#6e7781}
.rts-box .tail{stroke:#6e7781;stroke-dasharray:3 2;fill:none}
.rts-box .end{stroke:#6e7781;fill:none}
.rts-box .median{fill:#1f2328}
.rts-box .outlier{fill:none;stroke:#6e7781}
@media (prefers-color-scheme:dark){
.rts-box text{fill:#e6edf3}
.rts-box .paper{fill:#0d1117}
.rts-box .number{fill:#9198a1}
.rts-box .grid{stroke:#3d444d}
.rts-box .box{fill:#262e38;stroke:#7d8590}
.rts-box .tail,.rts-box .end,.rts-box .outlier{stroke:#8b949e}
.rts-box .median{fill:#e6edf3}
}
";

/// Draws the plots one below the other.
#[must_use]
pub fn svg(plots: &[Plot]) -> String {
    let mut body = String::new();
    let mut y = MARGIN;
    for plot in plots {
        y = draw(&mut body, plot, y);
    }
    let (width, height) = (LABELS + WIDTH + 2.0 * MARGIN, y);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="rts-box" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}">
<style>{STYLE}</style>
<rect class="paper" width="100%" height="100%"/>
{body}</svg>
"#
    )
}

/// Draws one plot, and tells where the next begins.
fn draw(out: &mut String, plot: &Plot, top: f64) -> f64 {
    let numbers = plot.boxes.iter().flat_map(|(_, numbers)| *numbers);
    let step = step(numbers.copied().fold(0.0, f64::max));
    let most = step * STEPS;
    let left = MARGIN + LABELS;
    let x = |number: f64| left + WIDTH * number / most;
    let title = escaped(plot.title);
    let _ = writeln!(
        out,
        r#"<text class="title" x="{MARGIN}" y="{:.1}">{title}</text>"#,
        top + 14.0
    );
    let first = top + TITLE;
    let bottom = first + ROW * plot.boxes.len() as f64;
    for mark in 0..=STEPS as u32 {
        let number = step * f64::from(mark);
        let at = x(number);
        let _ = writeln!(
            out,
            r#"<path class="grid" d="M{at:.1} {first:.1}V{bottom:.1}"/>"#
        );
        let _ = writeln!(
            out,
            r#"<text class="number" x="{at:.1}" y="{:.1}">{number}</text>"#,
            bottom + 13.0
        );
    }
    let _ = writeln!(
        out,
        r#"<text class="number" x="{:.1}" y="{:.1}">{}</text>"#,
        left + WIDTH / 2.0,
        bottom + 27.0,
        escaped(plot.unit)
    );
    for (row, (name, numbers)) in plot.boxes.iter().enumerate() {
        let y = first + ROW * (row as f64 + 0.5);
        let _ = writeln!(
            out,
            r#"<text class="name" x="{:.1}" y="{:.1}">{}</text>"#,
            left - 8.0,
            y + 4.0,
            escaped(name)
        );
        if let Some(parts) = box_parts(numbers) {
            draw_box(out, &parts, y, x);
        }
    }
    bottom + SCALE
}

fn draw_box(out: &mut String, parts: &BoxParts, y: f64, x: impl Fn(f64) -> f64) {
    let (low, high, median) = (x(parts.low), x(parts.high), x(parts.median));
    for (tail, quartile) in [(x(parts.tails.0), low), (x(parts.tails.1), high)] {
        let _ = writeln!(
            out,
            r#"<path class="tail" d="M{tail:.1} {y:.1}H{quartile:.1}"/>"#
        );
        let _ = writeln!(
            out,
            r#"<path class="end" d="M{tail:.1} {:.1}V{:.1}"/>"#,
            y - 4.0,
            y + 4.0
        );
    }
    let _ = writeln!(
        out,
        r#"<rect class="box" x="{low:.1}" y="{:.1}" width="{:.1}" height="14"/>"#,
        y - 7.0,
        high - low
    );
    for outlier in &parts.outliers {
        let _ = writeln!(
            out,
            r#"<circle class="outlier" cx="{:.1}" cy="{y:.1}" r="2.5"/>"#,
            x(*outlier)
        );
    }
    let _ = writeln!(
        out,
        r#"<circle class="median" cx="{median:.1}" cy="{y:.1}" r="3.5"/>"#
    );
}

/// A scale has so many steps.
const STEPS: f64 = 5.0;

/// The smallest round step with which a scale reaches as far.
fn step(most: f64) -> f64 {
    let least = (most / STEPS).max(0.2);
    let power = 10.0_f64.powf(least.log10().floor());
    let round = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power);
    let fits = round.filter(|step| *step >= least * (1.0 - 1e-9));
    fits.fold(10.0 * power, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_reach_far_enough() {
        for (most, expected) in [
            (50.0, 10.0),
            (1.0, 0.2),
            (0.0, 0.2),
            (51.0, 20.0),
            (100.0, 20.0),
            (120.0, 25.0),
            (2400.0, 500.0),
        ] {
            assert!(
                (step(most) - expected).abs() < 1e-9,
                "{most}: {}",
                step(most)
            );
        }
    }

    #[test]
    fn every_box_has_its_name_its_median_and_its_outliers() {
        let many: Vec<f64> = [vec![1.0; 3], vec![2.0; 3], vec![3.0; 3], vec![50.0]].concat();
        let drawn = svg(&[Plot {
            title: "a & b",
            unit: "sessions",
            boxes: vec![("lru(5)", &many), ("none", &[])],
        }]);
        assert!(drawn.contains("a &amp; b") && drawn.contains("lru(5)") && drawn.contains("none"));
        assert_eq!(drawn.matches("class=\"median\"").count(), 1);
        assert_eq!(drawn.matches("class=\"outlier\"").count(), 1);
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
    }
}
