//! The picture of one function in two versions: what `git rts graph` draws, as data for its two formats.

use crate::lang::cfg::{Cfg, Node, NodeKind};

pub use super::graph_dot::dot;
pub use super::graph_svg::{PAGE_PATTERNS, PAGE_STYLE, inline_svg, svg};

/// Both versions of a function; one is missing where the function was added or removed.
#[derive(Debug, Clone)]
pub struct GraphPair<'a> {
    pub function: String,
    pub file: String,
    pub base: Option<Side<'a>>,
    pub head: Option<Side<'a>>,
}

/// One version of the function.
#[derive(Debug, Clone)]
pub struct Side<'a> {
    /// The version, such as an abbreviated commit.
    pub title: String,
    pub cfg: &'a Cfg,
    /// The source text of each node on one line.
    pub texts: Vec<String>,
    pub node_states: Vec<NodeState>,
    /// Indices into the edges of the graph; only the base has any.
    pub dangerous_edges: Vec<usize>,
}

/// What the comparison found out about a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeState {
    /// Paired with an equal node of the other version.
    Equal,
    /// What a dangerous edge leads to, or its counterpart.
    Changed,
    /// Beyond the differences, where the walk did not go.
    Unvisited,
}

/// Texts of nodes are cut after this many characters; the whole text is in the tooltip.
const LONGEST_TEXT: usize = 44;

impl Side<'_> {
    /// The state of a node; one without a state counts as not visited.
    pub(super) fn state(&self, node: usize) -> NodeState {
        let state = self.node_states.get(node);
        state.copied().unwrap_or(NodeState::Unvisited)
    }

    /// The whole text of a node; the entry and the exit have none of their own.
    pub(super) fn text(&self, node: usize) -> &str {
        match self.cfg.nodes.get(node).map(|node| node.kind) {
            Some(NodeKind::Entry) => "entry",
            Some(NodeKind::Exit) => "exit",
            _ => self.texts.get(node).map_or("", String::as_str),
        }
    }

    pub(super) fn short_text(&self, node: usize) -> String {
        elided(self.text(node), LONGEST_TEXT)
    }
}

/// The line on which a node begins, if it stands for a piece of the source.
pub(super) fn line_number(node: &Node) -> Option<u32> {
    let in_source = !matches!(node.kind, NodeKind::Entry | NodeKind::Exit);
    (in_source && node.span.line > 0).then_some(node.span.line)
}

/// What is said in the place of a missing version.
pub(super) fn missing(pair: &GraphPair) -> Option<&'static str> {
    match (&pair.base, &pair.head) {
        (None, Some(_)) => Some("added: not in the base version"),
        (Some(_), None) => Some("removed: not in the head version"),
        (None, None) => Some("in neither version"),
        (Some(_), Some(_)) => None,
    }
}

/// The text in at most this many characters, white space and control characters as single blanks.
pub(super) fn elided(text: &str, longest: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let clean = words.join(" ");
    if clean.chars().count() <= longest {
        return clean;
    }
    let kept: String = clean.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::elided;

    #[test]
    fn text_is_cut_between_characters_and_kept_on_one_line() {
        assert_eq!(elided("a\n\t b\0c", 44), "a b c");
        assert_eq!(elided("ääääää", 4), "äää…");
        assert_eq!(elided("abcd", 4), "abcd");
        assert_eq!(elided("abc", 0), "…");
    }
}

/// Graphs for the tests of the pictures, put together like the statements of C.
#[cfg(test)]
pub(super) mod samples {
    use super::{GraphPair, NodeState, Side};
    use crate::lang::cfg::{CaseLabel, Cfg, ENTRY, EXIT, Edge, Label, Node, NodeKind, Span};

    pub(in super::super) struct Draft {
        pub(in super::super) cfg: Cfg,
        pub(in super::super) texts: Vec<String>,
        /// The ends that wait for the next statement.
        open: Vec<(usize, Label)>,
        breaks: Vec<Vec<(usize, Label)>>,
        continues: Vec<Vec<(usize, Label)>>,
    }

    impl Draft {
        pub(in super::super) fn new() -> Self {
            let mut draft = Draft {
                cfg: Cfg::default(),
                texts: Vec::new(),
                open: Vec::new(),
                breaks: Vec::new(),
                continues: Vec::new(),
            };
            draft.node(NodeKind::Entry, "");
            draft.node(NodeKind::Exit, "");
            draft.open = vec![(ENTRY, Label::Next)];
            draft
        }

        pub(in super::super) fn node(&mut self, kind: NodeKind, text: &str) -> usize {
            let index = self.cfg.nodes.len();
            let place = index as u32;
            self.cfg.nodes.push(Node {
                kind,
                span: Span {
                    start: place * 10,
                    end: place * 10 + 9,
                    line: 120 + place,
                },
                digest: 0,
                mentions: Default::default(),
                calls: Default::default(),
            });
            self.texts.push(text.to_owned());
            self.join(index);
            index
        }

        pub(in super::super) fn edge(&mut self, from: usize, to: usize, label: Label) {
            self.cfg.edges.push(Edge {
                from: from as u32,
                to: to as u32,
                label,
            });
        }

        fn join(&mut self, to: usize) {
            for (from, label) in std::mem::take(&mut self.open) {
                self.edge(from, to, label);
            }
        }

        pub(in super::super) fn stmt(&mut self, text: &str) -> usize {
            let node = self.node(NodeKind::Statement, text);
            self.open = vec![(node, Label::Next)];
            node
        }

        pub(in super::super) fn jump(&mut self, text: &str, to: usize) {
            self.stmt(text);
            self.join(to);
        }

        pub(in super::super) fn ret(&mut self, text: &str) {
            self.jump(text, EXIT);
        }

        /// An open end for a later `label`.
        pub(in super::super) fn goto(&mut self, text: &str) -> Vec<(usize, Label)> {
            self.stmt(text);
            std::mem::take(&mut self.open)
        }

        pub(in super::super) fn label(&mut self, gotos: Vec<(usize, Label)>) {
            self.open.extend(gotos);
        }

        pub(in super::super) fn choice(
            &mut self,
            text: &str,
            then: impl FnOnce(&mut Self),
            otherwise: impl FnOnce(&mut Self),
        ) {
            let kind = if text.starts_with('#') {
                NodeKind::Directive
            } else {
                NodeKind::Predicate
            };
            let node = self.node(kind, text);
            self.open = vec![(node, Label::True)];
            then(self);
            let after = std::mem::replace(&mut self.open, vec![(node, Label::False)]);
            otherwise(self);
            self.open.extend(after);
        }

        pub(in super::super) fn repeat(&mut self, text: &str, body: impl FnOnce(&mut Self)) {
            let node = self.node(NodeKind::Predicate, text);
            self.open = vec![(node, Label::True)];
            self.breaks.push(Vec::new());
            self.continues.push(Vec::new());
            body(self);
            self.open.extend(self.continues.pop().unwrap_or_default());
            self.join(node);
            self.open = self.breaks.pop().unwrap_or_default();
            self.open.push((node, Label::False));
        }

        pub(in super::super) fn leave(&mut self, text: &str) {
            let ends = self.goto(text);
            self.breaks.last_mut().expect("inside a loop").extend(ends);
        }

        pub(in super::super) fn again(&mut self, text: &str) {
            let ends = self.goto(text);
            self.continues
                .last_mut()
                .expect("inside a loop")
                .extend(ends);
        }

        /// Cases `0..count`, of which every fourth falls through to the next and every fifth shares its statements.
        pub(in super::super) fn switch(
            &mut self,
            text: &str,
            count: usize,
            mut body: impl FnMut(&mut Self, usize),
        ) {
            let node = self.node(NodeKind::Switch, text);
            let mut after = vec![(node, Label::Default)];
            self.open.clear();
            for case in 0..count {
                let text = format!("{case}");
                let label = CaseLabel {
                    text,
                    digest: case as u64,
                    mentions: Default::default(),
                };
                self.open.push((node, Label::Case(Box::new(label))));
                if case % 5 == 4 {
                    continue;
                }
                body(self, case);
                if case % 4 != 3 {
                    after.append(&mut self.open);
                }
            }
            self.open.append(&mut after);
        }

        pub(in super::super) fn done(mut self) -> Self {
            self.join(EXIT);
            self.cfg.edges.sort_by_key(|edge| edge.from);
            self
        }

        pub(in super::super) fn side(&self, title: &str) -> Side<'_> {
            Side {
                title: title.to_owned(),
                cfg: &self.cfg,
                texts: self.texts.clone(),
                node_states: vec![NodeState::Equal; self.cfg.nodes.len()],
                dangerous_edges: Vec::new(),
            }
        }
    }

    pub(in super::super) fn pair<'a>(
        base: Option<Side<'a>>,
        head: Option<Side<'a>>,
    ) -> GraphPair<'a> {
        GraphPair {
            function: "parse".to_owned(),
            file: "src/parse.c".to_owned(),
            base,
            head,
        }
    }

    /// A function of some seventy statements with everything that C has to jump.
    pub(in super::super) fn large() -> Draft {
        let mut d = Draft::new();
        let mut fail = Vec::new();
        let header = d.node(
            NodeKind::Header,
            "static int parse(struct parser *p, const char *text, size_t length)",
        );
        d.open = vec![(header, Label::Next)];
        d.stmt("struct token token = { 0 };");
        d.stmt("int depth = 0;");
        d.choice(
            "p == NULL || text == NULL",
            |d| d.ret("return -EINVAL;"),
            |_| {},
        );
        d.choice("length == 0", |d| d.ret("return 0;"), |_| {});
        d.choice(
            "#if defined(PARSER_TRACE)",
            |d| {
                d.stmt("trace(p, text, length);");
            },
            |_| {},
        );
        d.stmt("p->position = 0;");
        d.stmt("p->error = NULL;");
        d.repeat("p->position < length", |d| {
            d.stmt("char c = text[p->position++];");
            d.choice(
                "isspace((unsigned char)c)",
                |d| d.again("continue;"),
                |_| {},
            );
            d.choice(
                "c == '#'",
                |d| {
                    d.repeat("p->position < length && text[p->position] != '\\n'", |d| {
                        d.stmt("p->position++;");
                    });
                    d.again("continue;");
                },
                |_| {},
            );
            d.switch("classify(c)", 12, |d, case| {
                d.stmt(&format!("token.kind = TOKEN_{case};"));
                if case == 2 {
                    d.choice(
                        "depth++ > LIMIT",
                        |d| fail.extend(d.goto("goto fail;")),
                        |_| {},
                    );
                }
                if case % 3 == 0 {
                    d.stmt(&format!("emit(p, &token, \"{case}\");"));
                }
            });
            d.choice("token.kind == TOKEN_END", |d| d.leave("break;"), |_| {});
            d.choice(
                "accept(p, &token)",
                |d| {
                    d.stmt("depth += token.opens;");
                    d.stmt("p->seen++;");
                },
                |d| {
                    d.choice(
                        "recover(p)",
                        |d| {
                            d.stmt("p->recovered++;");
                        },
                        |d| fail.extend(d.goto("goto fail;")),
                    );
                },
            );
        });
        d.node(NodeKind::Opaque, "FOR_EACH_LISTENER(p, l) { l->done(p); }");
        d.open = vec![(d.cfg.nodes.len() - 1, Label::Next)];
        d.choice(
            "depth != 0",
            |d| {
                d.stmt("p->error = \"unbalanced <brackets> & more text that is rather long\";");
                fail.extend(d.goto("goto fail;"));
            },
            |_| {},
        );
        d.repeat("depth-- > 0", |d| {
            d.repeat("p->stack[depth].open", |d| {
                d.stmt("close(p, &p->stack[depth]);");
            });
        });
        d.ret("return p->seen;");
        d.label(fail);
        d.stmt("report(p, p->error);");
        d.choice(
            "p->owned",
            |d| {
                d.stmt("free(p->buffer);");
            },
            |d| {
                d.stmt("p->buffer = NULL;");
            },
        );
        d.ret("return -1;");
        d.done()
    }
}
