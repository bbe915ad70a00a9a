//! Statement lists: statements in order, `#if` around some of them, and errors confined to as few as possible.

use std::ops::Range;

use tree_sitter::Node as Syntax;

use crate::lang::c::conditionals::{Directive, Group, State};
use crate::lang::c::flow::Flow;
use crate::lang::c::graph::Ends;
use crate::lang::cfg::{Label, NodeKind};

/// One thing of a list, with the bytes it takes.
struct Entry<'t> {
    what: What<'t>,
    start: u32,
    end: u32,
}

enum What<'t> {
    Statement(Syntax<'t>),
    Case(Syntax<'t>),
    Label(Syntax<'t>),
    /// Statements that are one opaque node.
    Opaque,
}

impl<'t> Flow<'_, '_, '_> {
    /// Runs through the children of a block that fill the given bytes.
    pub(super) fn list(
        &mut self,
        children: &[Syntax<'t>],
        bytes: Range<u32>,
        ends: Ends,
    ) -> Result<Ends, String> {
        let mut entries = self.flatten(children);
        self.merge_errors(&mut entries, &bytes);
        self.run(&entries, bytes, ends)
    }

    /// Labels and cases stand beside the statements they contain, because control may enter between them.
    fn flatten(&self, children: &[Syntax<'t>]) -> Vec<Entry<'t>> {
        let mut entries = Vec::new();
        let mut waiting: Vec<Syntax<'t>> = children.iter().rev().copied().collect();
        while let Some(syntax) = waiting.pop() {
            let (start, end) = (self.describer.start(syntax), self.describer.end(syntax));
            let mut cursor = syntax.walk();
            match syntax.kind() {
                "comment" => {}
                "case_statement" if !own_error(syntax) => {
                    let colon = syntax
                        .children(&mut cursor)
                        .find(|child| child.kind() == ":")
                        .map_or(end, |colon| self.describer.end(colon));
                    entries.push(Entry {
                        what: What::Case(syntax),
                        start,
                        end: colon,
                    });
                    let value = syntax.child_by_field_name("value");
                    let inner: Vec<_> = syntax
                        .named_children(&mut cursor)
                        .filter(|child| Some(*child) != value)
                        .collect();
                    waiting.extend(inner.into_iter().rev());
                }
                "labeled_statement" if !own_error(syntax) => {
                    let inner: Vec<_> = syntax.named_children(&mut cursor).skip(1).collect();
                    let first = inner
                        .first()
                        .map_or(end, |first| self.describer.start(*first));
                    entries.push(Entry {
                        what: What::Label(syntax),
                        start,
                        end: first,
                    });
                    waiting.extend(inner.into_iter().rev());
                }
                "attributed_statement" => {
                    waiting.extend(syntax.named_children(&mut cursor).last());
                }
                _ => entries.push(Entry {
                    what: What::Statement(syntax),
                    start,
                    end,
                }),
            }
        }
        entries
    }

    /// Joins entries that only together are a whole: around errors, and where a conditional cuts through them.
    fn merge_errors(&self, entries: &mut Vec<Entry<'t>>, bytes: &Range<u32>) {
        let mut merges: Vec<Range<usize>> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let What::Statement(syntax) = entry.what else {
                continue;
            };
            if syntax.is_error() || syntax.is_missing() || (syntax.has_error() && is_simple(syntax))
            {
                merges.push(self.whole_statements(entries, index));
            }
        }
        let overlapped = |from: u32, to: u32| {
            let first = entries.partition_point(|entry| entry.end <= from);
            let last = entries.partition_point(|entry| entry.start < to);
            first..last.max(first)
        };
        for (from, to) in &self.describer.masked.irregular {
            if *from < bytes.start || *to > bytes.end {
                continue;
            }
            let hit = overlapped(*from, *to);
            let inside_one = hit.len() == 1
                && entries[hit.start].start <= *from
                && *to <= entries[hit.start].end;
            if !hit.is_empty() && !inside_one {
                merges.push(hit);
            }
        }
        for index in &self.describer.masked.regular {
            let group = &self.describer.source.conditionals.groups[*index];
            let (from, to) = self.bytes_of(group);
            if from < bytes.start || to > bytes.end {
                continue;
            }
            let hit = overlapped(from, to);
            let inside_one =
                hit.len() == 1 && entries[hit.start].start <= from && to <= entries[hit.start].end;
            let cut = entries[hit.clone()].iter().any(|entry| {
                !group.branches.iter().any(|branch| {
                    let (first, last) = self.branch_bytes(branch.body.clone(), from, to);
                    first <= entry.start && entry.end <= last
                })
            });
            if cut && !inside_one {
                merges.push(hit);
            }
        }
        if merges.is_empty() {
            return;
        }
        self.apply_merges(entries, merges);
    }

    fn apply_merges(&self, entries: &mut Vec<Entry<'t>>, mut merges: Vec<Range<usize>>) {
        // A merge that reaches into a conditional takes all of it, or its branches would be torn.
        loop {
            merges.sort_by_key(|merge| merge.start);
            let mut joined: Vec<Range<usize>> = Vec::new();
            for merge in merges {
                match joined.last_mut() {
                    Some(last) if merge.start < last.end => last.end = last.end.max(merge.end),
                    _ => joined.push(merge),
                }
            }
            let mut grown = false;
            for merge in &mut joined {
                for index in &self.describer.masked.regular {
                    let group = &self.describer.source.conditionals.groups[*index];
                    let (from, to) = self.bytes_of(group);
                    let (start, end) = (entries[merge.start].start, entries[merge.end - 1].end);
                    let apart = end <= from || to <= start;
                    let within = group.branches.iter().any(|branch| {
                        let (first, last) = self.branch_bytes(branch.body.clone(), from, to);
                        first <= start && end <= last
                    });
                    if apart || within || (start <= from && to <= end) {
                        continue;
                    }
                    let first = entries
                        .partition_point(|entry| entry.end <= from)
                        .min(merge.start);
                    let last = entries
                        .partition_point(|entry| entry.start < to)
                        .max(merge.end);
                    grown |= (first, last) != (merge.start, merge.end);
                    *merge = first..last;
                }
            }
            merges = joined;
            if !grown {
                break;
            }
        }
        for merge in merges.into_iter().rev() {
            let merged = Entry {
                what: What::Opaque,
                start: entries[merge.start].start,
                end: entries[merge.end - 1].end,
            };
            entries.splice(merge, std::iter::once(merged));
        }
    }

    /// The fewest entries around an error that begin and end where statements do.
    fn whole_statements(&self, entries: &[Entry<'t>], index: usize) -> Range<usize> {
        let source = self.describer.source;
        let live = |token: &usize| source.conditionals.states[*token] == State::Live;
        let mut first = index;
        while first > 0 {
            let tokens = self
                .describer
                .tokens(entries[first].start, entries[first].end);
            let before = (0..tokens.start).rev().find(live);
            let begins = before.is_none_or(|before| {
                matches!(
                    source.tokens[before].text(source.bytes),
                    b";" | b"{" | b"}" | b":"
                )
            });
            let is_else = tokens
                .clone()
                .next()
                .is_some_and(|token| source.tokens[token].is(source.bytes, "else"));
            if begins && !is_else {
                break;
            }
            first -= 1;
        }
        let mut last = index;
        while last + 1 < entries.len() {
            let tokens = self
                .describer
                .tokens(entries[last].start, entries[last].end);
            let ends = tokens.clone().rev().find(live).is_some_and(|token| {
                matches!(source.tokens[token].text(source.bytes), b";" | b"}")
            });
            let next = (tokens.end..source.tokens.len()).find(live);
            let goes_on = next.is_some_and(|next| source.tokens[next].is(source.bytes, "else"));
            if ends && !goes_on {
                break;
            }
            last += 1;
        }
        first..last + 1
    }

    fn bytes_of(&self, group: &Group) -> (u32, u32) {
        let tokens = &self.describer.source.tokens;
        (tokens[group.start()].start, tokens[group.end - 1].end)
    }

    fn branch_bytes(&self, body: Range<usize>, from: u32, to: u32) -> (u32, u32) {
        let tokens = &self.describer.source.tokens;
        let start = tokens.get(body.start).map_or(to, |token| token.start);
        let end = tokens.get(body.end).map_or(to, |token| token.start);
        (start.max(from), end)
    }

    /// Entries, conditionals and other directives in the order of the text.
    fn run(
        &mut self,
        entries: &[Entry<'t>],
        bytes: Range<u32>,
        mut ends: Ends,
    ) -> Result<Ends, String> {
        let mut at = bytes.start;
        let mut rest = entries;
        loop {
            let next_entry = rest.first().map_or(bytes.end, |entry| entry.start);
            if let Some((group, from, to)) = self.group_between(at, next_entry.min(bytes.end)) {
                ends = self.directives(at..from, ends);
                let inside = rest.partition_point(|entry| entry.start < to);
                ends = self.conditional(&group, &rest[..inside], ends)?;
                rest = &rest[inside..];
                at = to;
                continue;
            }
            ends = self.directives(at..next_entry, ends);
            let Some((entry, others)) = rest.split_first() else {
                return Ok(ends);
            };
            ends = match entry.what {
                What::Statement(syntax) => self.statement(syntax, ends)?,
                What::Case(syntax) => self.case(syntax, ends),
                What::Label(syntax) => {
                    let label = syntax
                        .child_by_field_name("label")
                        .ok_or("a label without a name")?;
                    {
                        let name = self.name_of(label);
                        self.refuse_macro(name)?;
                        self.label(name, ends)
                    }
                }
                What::Opaque => {
                    let tokens = self.describer.tokens(entry.start, entry.end);
                    let (tokens, conditionals) = self.with_conditionals(tokens);
                    if let Some(last) = tokens.clone().last() {
                        at = at.max(self.describer.source.tokens[last].end);
                    }
                    let (inside, past) = self.perhaps(conditionals, ends);
                    let mut ends = self.opaque(tokens, inside)?;
                    ends.extend(past);
                    ends
                }
            };
            at = entry.end.max(at);
            rest = others;
        }
    }

    /// Widens opaque tokens to the end of the conditionals that split them, whose later branches the parser was not
    /// shown; answers the conditionals themselves if they may leave nothing of the tokens to the compiler.
    fn with_conditionals(&self, tokens: Range<usize>) -> (Range<usize>, Vec<Range<usize>>) {
        let irregular = &self.describer.masked.irregular;
        let mut groups: Vec<&Group> = Vec::new();
        for group in &self.describer.source.conditionals.groups {
            let splits = irregular.contains(&self.bytes_of(group));
            let apart = group.end <= tokens.start || tokens.end <= group.start();
            let inside_another = groups.last().is_some_and(|last| group.start() < last.end);
            if splits && !apart && !inside_another {
                groups.push(group);
            }
        }
        let Some(last) = groups.last() else {
            return (tokens, Vec::new());
        };
        let vanishes = tokens.clone().all(|token| {
            groups
                .iter()
                .any(|group| (group.start()..group.end).contains(&token))
        });
        let conditionals = match vanishes {
            true => groups
                .iter()
                .map(|group| group.start()..group.end)
                .collect(),
            false => Vec::new(),
        };
        (tokens.start..tokens.end.max(last.end), conditionals)
    }

    /// Conditionals of which the compiler may leave something or nothing: the ends before what is left, and those past it.
    ///
    /// Where nothing is left nothing is executed, so each conditional has a node for all that it may bring.
    fn perhaps(&mut self, conditionals: Vec<Range<usize>>, mut ends: Ends) -> (Ends, Ends) {
        if conditionals.is_empty() {
            return (ends, Vec::new());
        }
        let mut inside = Vec::new();
        for conditional in conditionals {
            let node = self.add(NodeKind::Directive, conditional, &[], ends);
            inside.push((node, Label::True));
            ends = vec![(node, Label::False)];
        }
        (inside, ends)
    }

    /// The first conditional around statements that begins in a gap between entries.
    fn group_between(&self, from: u32, to: u32) -> Option<(Group, u32, u32)> {
        let groups = &self.describer.source.conditionals.groups;
        self.describer
            .masked
            .regular
            .iter()
            .map(|index| &groups[*index])
            .map(|group| (group, self.bytes_of(group)))
            .find(|(_, (start, _))| from <= *start && *start < to)
            .map(|(group, (start, end))| (group.clone(), start, end))
    }

    /// `#if` as a predicate: a node for each condition, its branch on T, the next condition on F.
    fn conditional(
        &mut self,
        group: &Group,
        entries: &[Entry<'t>],
        mut ends: Ends,
    ) -> Result<Ends, String> {
        let (from, to) = self.bytes_of(group);
        let mut out = Vec::new();
        let mut open = true;
        for branch in &group.branches {
            let (start, end) = self.branch_bytes(branch.body.clone(), from, to);
            let source = self.describer.source;
            let is_else = source
                .tokens
                .get(branch.directive.start + 1)
                .is_some_and(|token| token.is(source.bytes, "else"));
            let inside = if is_else {
                open = false;
                std::mem::take(&mut ends)
            } else {
                let node = self.add(NodeKind::Directive, branch.directive.clone(), &[], ends);
                ends = vec![(node, Label::False)];
                vec![(node, Label::True)]
            };
            if branch.dead {
                out.extend(inside);
                continue;
            }
            let first = entries.partition_point(|entry| entry.start < start);
            let last = entries.partition_point(|entry| entry.start < end);
            out.extend(self.run(&entries[first..last.max(first)], start..end, inside)?);
        }
        if open {
            out.extend(ends);
        }
        Ok(out)
    }

    /// `#pragma` and `#include` between statements are statements; definitions are entities of their own.
    fn directives(&mut self, gap: Range<u32>, mut ends: Ends) -> Ends {
        let source = self.describer.source;
        let all = &source.conditionals.directives;
        let start = |directive: &Directive| source.tokens[directive.tokens.start].start;
        let first = all.partition_point(|directive| start(directive) < gap.start);
        let found: Vec<Directive> = all[first..]
            .iter()
            .take_while(|directive| start(directive) < gap.end)
            .filter(|directive| source.conditionals.states[directive.tokens.start] != State::Dead)
            .filter(|directive| !matches!(directive.word.as_str(), "define" | "undef" | ""))
            .cloned()
            .collect();
        for directive in found {
            let node = self.add(NodeKind::Statement, directive.tokens, &[], ends);
            ends = vec![(node, Label::Next)];
        }
        ends
    }
}

/// A statement without statements inside: an error in it stays in it.
fn is_simple(syntax: Syntax<'_>) -> bool {
    matches!(
        syntax.kind(),
        "expression_statement"
            | "declaration"
            | "type_definition"
            | "struct_specifier"
            | "union_specifier"
            | "enum_specifier"
            | "return_statement"
            | "goto_statement"
            | "break_statement"
            | "continue_statement"
    ) || own_error(syntax)
}

/// The error is among the statement's own tokens, not in a statement inside it.
fn own_error(syntax: Syntax<'_>) -> bool {
    let mut cursor = syntax.walk();
    syntax
        .children(&mut cursor)
        .any(|child| child.is_error() || child.is_missing())
}

#[cfg(test)]
mod tests {
    use crate::lang::c::macros::MacroTable;
    use crate::lang::c::{Granularity, file_facts, lex_facts};
    use crate::lang::cfg::{Cfg, Label, NodeKind};
    use crate::lang::facts::Flow;

    fn graph(text: &str) -> Cfg {
        let macros = MacroTable::learn(&lex_facts(text.as_bytes()).macros);
        let facts = file_facts(text.as_bytes(), &macros, Granularity::Expression);
        let mut bodies = facts.entities.into_iter().filter_map(|entity| entity.body);
        match bodies.next().expect("a function").flow {
            Flow::Edges(cfg) => cfg,
            Flow::Whole(reason) => unreachable!("{reason}"),
        }
    }

    fn digests(cfg: &Cfg, kind: NodeKind) -> Vec<u64> {
        let nodes = cfg.nodes.iter().filter(|node| node.kind == kind);
        nodes.map(|node| node.digest).collect()
    }

    #[test]
    fn what_the_preprocessor_may_take_away_can_be_passed_by() {
        let cfg = graph("void f(void)\n{\n#if A\n!a;\n#endif\nb();\n}\n");
        let directive = cfg
            .nodes
            .iter()
            .position(|node| node.kind == NodeKind::Directive)
            .expect("the condition has a node");
        let labels: Vec<&Label> = cfg
            .successors(directive)
            .map(|(_, edge)| &edge.label)
            .collect();
        assert_eq!(labels, [&Label::True, &Label::False]);
    }

    #[test]
    fn a_branch_that_the_parser_was_not_shown_counts() {
        let with = |sign: &str| {
            graph(&format!(
                "void f(void)\n{{\n#if A\n!a;\n#else\n!(a {sign} b);\n#endif\nb();\n}}\n"
            ))
        };
        let (plus, minus) = (with("+"), with("-"));
        for kind in [NodeKind::Directive, NodeKind::Opaque] {
            assert_ne!(digests(&plus, kind), digests(&minus, kind));
        }
    }

    #[test]
    fn every_node_has_a_place_in_the_text() {
        let text = "#define WHEN(x) if (x)\nvoid f(void)\n{\nfor (;a;)\nWHEN (b) {\nbreak;\n}\n}\n";
        for node in graph(text).nodes {
            let is_end = matches!(node.kind, NodeKind::Entry | NodeKind::Exit);
            assert!(is_end || node.span.line > 0, "{node:?}");
        }
    }

    #[test]
    fn an_operator_that_is_a_macro_goes_on_with_the_statement() {
        let text = "#define ONE(x) (x)\n#define AND &&\nvoid f(void)\n{\nONE(1)\nAND\nb();\n}\n";
        assert_eq!(digests(&graph(text), NodeKind::Statement).len(), 1);
    }
}
