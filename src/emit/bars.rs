//! A chart of bars for the HTML pages, drawn so that a browser may stretch it.

use std::fmt::Write as _;

use super::page::escaped;

/// A bar, perhaps before another one.
pub(super) struct Bar {
    /// What a browser says of it.
    pub(super) label: String,
    /// The class that colours it.
    pub(super) class: &'static str,
    /// How high it is, and what is behind it: parts of the whole height.
    pub(super) share: f64,
    pub(super) behind: f64,
}

/// What a chart shows, in words.
pub(super) struct Words {
    pub(super) title: &'static str,
    /// One sentence on how to read it.
    pub(super) explained: &'static str,
    /// What stands at the whole height, at half of it and at its foot.
    pub(super) scale: [String; 3],
    /// What the bars are, and in which order.
    pub(super) along: String,
}

/// The scale of shares.
pub(super) fn shares() -> [String; 3] {
    ["100 %", "50 %", "0 %"].map(str::to_owned)
}

const HEIGHT: f64 = 100.0;
const STEP: f64 = 10.0;

/// Without the gap a bar of the whole height would look cut off.
const GAP: f64 = 8.0;

/// One figure with its axes; a table below it should have the numbers. The words stand beside the drawing, which would stretch them.
pub(super) fn chart(body: &mut String, words: &Words, bars: &[Bar]) {
    let width = STEP * bars.len().max(12) as f64;
    let Words {
        title, explained, ..
    } = words;
    let [whole, half, foot] = words.scale.each_ref().map(|text| escaped(text));
    let along = escaped(&words.along);
    let _ = writeln!(
        body,
        "<figure><figcaption><b>{title}</b> {explained}</figcaption>\n<div class=\"plot\"><div class=\"up\"><span>{whole}</span><span>{half}</span><span>{foot}</span></div>\n<svg viewBox=\"0 0 {width} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{title}: {along}; the table below has the numbers\">"
    );
    let high = |share: f64| share.clamp(0.0, 1.0) * (HEIGHT - GAP);
    for share in [1.0, 0.5] {
        let y = HEIGHT - high(share);
        let _ = writeln!(body, "<path class=\"rule\" d=\"M0 {y:.1}H{width}\"/>");
    }
    for (place, bar) in bars.iter().enumerate() {
        let (x, wide) = (STEP * place as f64 + 1.0, STEP - 2.0);
        // Nothing at all still has a foot.
        let (behind, height) = (high(bar.behind).max(1.0), high(bar.share));
        let _ = writeln!(
            body,
            "<g><title>{}</title><rect class=\"bar\" x=\"{x}\" y=\"{:.1}\" width=\"{wide}\" height=\"{behind:.1}\"/><rect class=\"{}\" x=\"{x}\" y=\"{:.1}\" width=\"{wide}\" height=\"{height:.1}\"/></g>",
            escaped(&bar.label),
            HEIGHT - behind,
            bar.class,
            HEIGHT - height,
        );
    }
    let _ = writeln!(
        body,
        "</svg>\n<div class=\"along\">{along}</div></div></figure>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_axes_and_says_how_to_read_it() {
        let words = Words {
            title: "Time saved",
            explained: "More is better.",
            scale: ["4 s", "2 s", "0 s"].map(str::to_owned),
            along: "2 versions of <a>".to_owned(),
        };
        let bar = |share| Bar {
            label: "a".to_owned(),
            class: "part",
            share,
            behind: 0.0,
        };
        let mut text = String::new();
        chart(&mut text, &words, &[bar(1.0), bar(0.5)]);
        for part in [
            "<b>Time saved</b> More is better.",
            "<span>4 s</span><span>2 s</span><span>0 s</span>",
            "<div class=\"along\">2 versions of &lt;a&gt;</div>",
        ] {
            assert!(text.contains(part), "'{part}' in {text}");
        }
        // A bar ends at the line that its number stands at.
        for (number, y) in [(0, "8.0"), (1, "54.0")] {
            assert!(text.contains(&format!("d=\"M0 {y}H")), "{number} in {text}");
            assert!(text.contains(&format!("y=\"{y}\"")), "{number} in {text}");
        }
    }
}
