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

const HEIGHT: f64 = 100.0;
const STEP: f64 = 10.0;

/// One figure; a table below it should have the numbers.
pub(super) fn chart(body: &mut String, title: &str, by: &str, bars: &[Bar]) {
    let width = STEP * bars.len().max(12) as f64;
    let _ = writeln!(
        body,
        "<figure><figcaption>{title}</figcaption>\n<svg viewBox=\"0 0 {width} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{title}, {by}; the table below has the numbers\">"
    );
    // Without the gap a bar of the whole height would look cut off.
    let high = |share: f64| share.clamp(0.0, 1.0) * (HEIGHT - 4.0);
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
    body.push_str("</svg></figure>\n");
}
