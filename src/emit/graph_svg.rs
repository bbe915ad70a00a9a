//! The two control-flow graphs of a function as an SVG picture that needs no other program.

mod legend;
mod line;
mod node;
mod strand;
mod style;

use std::fmt::Write as _;

use self::legend::{LEGEND_WIDTH, legend};
use self::strand::strands;
use self::style::{HATCH, STYLE};
use super::graph::{GraphPair, Side, line_number, missing};
use super::graph_layout::{Block, Link, layout};

/// The width of a character of a line number, which has 10 pixels.
const LINE_CELL: f64 = 6.1;
const MARGIN: f64 = 20.0;
const HEADER: f64 = 84.0;
const FOOTER: f64 = 56.0;
const BETWEEN: f64 = 40.0;

/// Draws both versions side by side.
#[must_use]
pub fn svg(pair: &GraphPair) -> String {
    drawn(pair, &format!("<style>{STYLE}</style>\n{HATCH}\n"))
}

/// The same for a page that has [`PAGE_STYLE`] and [`PAGE_PATTERNS`] once for all of its pictures.
#[must_use]
pub fn inline_svg(pair: &GraphPair) -> String {
    drawn(pair, "")
}

/// What a page with pictures needs: rules for its style sheet, and the patterns that the pictures refer to.
pub const PAGE_STYLE: &str = STYLE;
pub const PAGE_PATTERNS: &str = HATCH;

fn drawn(pair: &GraphPair, beginning: &str) -> String {
    let base = pair.base.as_ref().map(|side| picture(side, "base"));
    let head = pair.head.as_ref().map(|side| picture(side, "head"));
    let pictures: Vec<Picture> = base.into_iter().chain(head).collect();
    let height = pictures
        .iter()
        .map(|picture| picture.height)
        .fold(0.0, f64::max);
    let mut body = String::new();
    let mut x = MARGIN;
    for (index, picture) in pictures.iter().enumerate() {
        if index > 0 {
            let (at, bottom) = (x + BETWEEN / 2.0, HEADER + height);
            let _ = writeln!(body, r#"<path class="rule" d="M{at:.1} 56V{bottom:.1}"/>"#);
            x += BETWEEN;
        }
        let title = escaped(&picture.title);
        let _ = writeln!(
            body,
            r#"<text class="version" x="{x:.1}" y="68">{title}</text>"#
        );
        let _ = writeln!(body, r#"<g transform="translate({x:.1} {HEADER})">"#);
        body.push_str(&picture.body);
        body.push_str("</g>\n");
        x += picture.width.max(cells(&picture.title) as f64 * 8.0);
    }
    let title = format!("{}()", pair.function);
    let mut subtitle = pair.file.clone();
    if let Some(note) = missing(pair) {
        let _ = write!(subtitle, " ({note})");
    }
    let words = (cells(&title) as f64 * 10.9).max(cells(&subtitle) as f64 * 7.25);
    let width = (x + MARGIN).max(words + 2.0 * MARGIN).max(LEGEND_WIDTH);
    let bottom = HEADER + height + FOOTER;
    let mut out = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="rts" width="{width:.0}" height="{bottom:.0}" viewBox="0 0 {width:.0} {bottom:.0}">
<title>{} in {}</title>
{beginning}<rect class="paper" width="100%" height="100%"/>
<text class="function" x="20" y="28">{}</text>
<text class="file" x="20" y="47">{}</text>
"#,
        escaped(&pair.function),
        escaped(&pair.file),
        escaped(&title),
        escaped(&subtitle)
    );
    out.push_str(&body);
    legend(&mut out, bottom - FOOTER + 34.0);
    out.push_str("</svg>\n");
    out
}

struct Picture {
    title: String,
    body: String,
    width: f64,
    height: f64,
}

fn picture(side: &Side, role: &str) -> Picture {
    let cfg = side.cfg;
    let digits = cfg
        .nodes
        .iter()
        .filter_map(line_number)
        .max()
        .map_or(0, |line| line.to_string().len());
    let gutter = digits as f64 * LINE_CELL;
    let blocks: Vec<Block> = (0..cfg.nodes.len())
        .map(|index| node::block(side, index, gutter))
        .collect();
    let strands = strands(side);
    let links: Vec<Link> = strands.iter().map(|strand| strand.link).collect();
    let drawing = layout(&blocks, &links);
    let mut body = String::new();
    let mut labels = String::new();
    let mut order: Vec<usize> = (0..strands.len()).collect();
    order.sort_by_key(|index| strands[*index].weight());
    for index in order {
        line::edge(&mut body, &strands[index], &drawing.routes[index]);
        line::label(&mut labels, &strands[index], &drawing.routes[index]);
    }
    body.push_str(&labels);
    for (index, block) in blocks.iter().enumerate() {
        node::node(
            &mut body,
            side,
            index,
            block,
            drawing.centres[index],
            gutter,
        );
    }
    Picture {
        title: format!("{role} {}", side.title),
        body,
        width: drawing.width,
        height: drawing.height,
    }
}

/// How many columns a text takes in a monospaced font.
fn cells(text: &str) -> usize {
    // East Asian scripts and pictures are twice as wide.
    text.chars()
        .map(|c| {
            if c >= '\u{1100}' && !('\u{2000}'..'\u{2e80}').contains(&c) {
                2
            } else {
                1
            }
        })
        .sum()
}

/// The text for an XML document: without the characters that XML cannot hold.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::graph::samples::{Draft, large, pair};
    use super::super::graph::{NodeState, svg};
    use crate::lang::cfg::{Cfg, Label};

    /// The names of the elements, each closed in its turn and all attributes quoted.
    fn elements(svg: &str) -> Vec<&str> {
        let mut open = Vec::new();
        let mut all = Vec::new();
        for tag in svg.split('<').skip(1) {
            let (tag, text) = tag.split_once('>').expect("a tag ends");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            assert!(
                !text.contains('>') || all.last() == Some(&"style"),
                "{text}"
            );
            let name = tag.split([' ', '/']).next().unwrap_or("");
            match tag.strip_prefix('/') {
                Some(closed) => assert_eq!(open.pop(), Some(closed)),
                None => {
                    all.push(name);
                    if !tag.ends_with('/') {
                        open.push(name);
                    }
                }
            }
        }
        assert!(open.is_empty());
        all
    }

    /// The numbers that follow this in the picture.
    fn numbers(svg: &str, before: &str) -> Vec<f64> {
        let rest = svg.split(before).skip(1);
        let number = |rest: &str| {
            rest.split(['"', ' ', ')'])
                .next()
                .and_then(|text| text.parse().ok())
        };
        rest.filter_map(number).collect()
    }

    #[test]
    fn every_node_and_every_line_is_in_the_picture() {
        let draft = large();
        let svg = svg(&pair(Some(draft.side("a1b2c3d")), Some(draft.side("HEAD"))));
        elements(&svg);
        let legend = svg.find("class=\"legend\"").unwrap_or(0);
        assert_eq!(
            svg[..legend].matches("<g class=\"node ").count(),
            2 * draft.cfg.nodes.len()
        );
        // Two pairs of cases share their statements, and so does the last of them with the default.
        let lines = svg[..legend].matches("<path class=\"line\"").count();
        assert!(lines <= 2 * draft.cfg.edges.len() && lines >= 2 * (draft.cfg.edges.len() - 3));
        assert!(svg.contains(">base a1b2c3d<") && svg.contains(">head HEAD<"));
        assert!(svg.contains("prefers-color-scheme:dark") && svg.contains("class=\"paper\""));
    }

    #[test]
    fn the_view_box_holds_both_graphs() {
        let draft = large();
        let svg = svg(&pair(Some(draft.side("a")), Some(draft.side("b"))));
        let width = numbers(&svg, " width=\"")[0];
        assert!(svg.contains(&format!("viewBox=\"0 0 {width} ")));
        let second = numbers(&svg, "translate(")[1];
        let boxes = numbers(&svg, "class=\"box\" x=\"");
        assert!(boxes.iter().all(|x| *x >= 0.0 && second + x < width));
    }

    #[test]
    fn text_is_escaped() {
        let mut draft = Draft::new();
        draft.stmt("a < b && c > \"d\" + '\u{1}\u{ffff}'");
        let draft = draft.done();
        let mut pair = pair(None, Some(draft.side("<&>")));
        pair.function = "operator<".to_owned();
        let svg = svg(&pair);
        elements(&svg);
        assert!(
            svg.contains("a &lt; b &amp;&amp; c &gt; &quot;d&quot; + &#39;\u{fffd}\u{fffd}&#39;")
        );
        assert!(svg.contains("head &lt;&amp;&gt;") && svg.contains("operator&lt;()"));
        assert!(!svg.contains(['\u{1}', '\u{ffff}']));
    }

    #[test]
    fn long_text_is_cut_and_whole_in_the_tooltip() {
        let text = "value = first_function(one, two) + second_function(three, four);";
        let mut draft = Draft::new();
        draft.stmt(text);
        let draft = draft.done();
        let svg = svg(&pair(None, Some(draft.side("a"))));
        assert!(svg.contains(&format!("<title>line 122: {text}</title>")));
        assert!(svg.contains(">value = first_function(one, two) + second_f…</text>"));
    }

    #[test]
    fn a_dangerous_edge_is_red() {
        let mut draft = Draft::new();
        draft.choice("x", |draft| draft.ret("return 1;"), |_| {});
        let draft = draft.done();
        let mut side = draft.side("a");
        assert!(
            !svg(&pair(Some(side.clone()), None)).contains("line 122 → line 123: T (dangerous)")
        );
        let label = |edge: &crate::lang::cfg::Edge| edge.label == Label::True;
        side.dangerous_edges = draft
            .cfg
            .edges
            .iter()
            .position(label)
            .into_iter()
            .chain([99])
            .collect();
        side.node_states[3] = NodeState::Changed;
        let svg = svg(&pair(Some(side), None));
        assert!(svg.contains("<g class=\"edge danger\"><title>line 122 → line 123: T (dangerous)"));
        assert!(svg.contains("<g class=\"label danger\">"));
        assert!(svg.contains("<g class=\"node statement changed\">"));
        assert!(svg.contains(".rts .danger .line{stroke:#cf222e"));
    }

    #[test]
    fn cases_with_the_same_statements_share_a_line() {
        let mut draft = Draft::new();
        draft.switch("x", 6, |draft, _| {
            draft.stmt("f();");
        });
        let draft = draft.done();
        let svg = svg(&pair(None, Some(draft.side("a"))));
        assert!(svg.contains(">case 4, 5</text>"));
    }

    #[test]
    fn a_missing_version_is_mentioned() {
        let draft = Draft::new().done();
        let side = || Some(draft.side("a"));
        assert!(svg(&pair(None, side())).contains("(added: not in the base version)"));
        assert!(svg(&pair(side(), None)).contains("(removed: not in the head version)"));
        elements(&svg(&pair(None, None)));
    }

    #[test]
    fn a_graph_without_nodes_texts_or_states_is_drawn() {
        let empty = Cfg::default();
        let draft = large();
        let mut head = draft.side("b");
        let mut base = head.clone();
        base.cfg = &empty;
        head.texts.clear();
        head.node_states.clear();
        elements(&svg(&pair(Some(base), Some(head))));
    }
}
