//! The parser's text: a function body in which every use of a macro is replaced by something of equal length that parses.
//!
//! Positions stay true, and digests are taken from the original tokens, so nothing that is masked here is forgotten.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::lang::c::conditionals::Group;
use crate::lang::c::lexer::TokenKind;
use crate::lang::c::macros::{MacroClass, MacroTable};
use crate::lang::c::source::{NONE, Source};
use crate::lang::c::words;

/// What a head that is written as a macro is shown as: `FOR_EACH(x, list)` becomes `if(1)`.
pub(super) const HEAD: &str = "if(1)";

#[derive(Debug, Default)]
pub(crate) struct Masked {
    pub(crate) text: Vec<u8>,
    /// Offset in the file of the text's first byte.
    pub(crate) base: u32,
    /// Starts of tokens that were taken out of the text and belong to a neighbour.
    pub(crate) blanked: FxHashSet<u32>,
    /// Macros that stand before a controlled statement: start to end of the invocation.
    pub(crate) heads: FxHashMap<u32, u32>,
    /// Byte ranges that hold more than the text shows: conditionals that split a construct, operators behind macros.
    pub(crate) irregular: Vec<(u32, u32)>,
    /// Conditionals around whole statements, as indices into the file's groups.
    pub(crate) regular: Vec<usize>,
}

/// Prepares the body whose braces stand at these positions, or says what makes it impossible.
pub(crate) fn mask(
    source: &Source<'_>,
    macros: &MacroTable,
    open: usize,
    close: usize,
) -> Result<Masked, String> {
    let base = source.at(open).start;
    let end = source.at(close).end;
    let mut masked = Masked {
        text: vec![b' '; (end - base) as usize],
        base,
        ..Masked::default()
    };
    let hidden = sort_conditionals(source, macros, open, close, &mut masked);
    let shown = (open..=close)
        .filter(|position| !hidden.contains(position))
        .collect();
    let mut masker = Masker {
        source,
        macros,
        shown,
        masked,
        head_closes: FxHashSet::default(),
        at_statement: false,
        in_case: false,
    };
    masker.run()?;
    Ok(masker.masked)
}

/// Tells conditionals around whole statements from those that split one; answers the positions that must be hidden.
fn sort_conditionals(
    source: &Source<'_>,
    macros: &MacroTable,
    open: usize,
    close: usize,
    masked: &mut Masked,
) -> FxHashSet<usize> {
    let mut hidden = FxHashSet::default();
    let (first, last) = (source.live[open], source.live[close]);
    for (index, group) in source.conditionals.groups.iter().enumerate() {
        if group.start() < first || group.end > last + 1 {
            continue;
        }
        if group.branches.iter().all(|branch| branch.dead) {
            continue;
        }
        if !group.splits && is_around_statements(source, macros, group, &hidden) {
            masked.regular.push(index);
            continue;
        }
        masked.irregular.push((
            source.tokens[group.start()].start,
            source.tokens[group.end - 1].end,
        ));
        for branch in group.branches.iter().filter(|branch| !branch.dead).skip(1) {
            let from = source
                .live
                .partition_point(|token| *token < branch.body.start);
            let to = source
                .live
                .partition_point(|token| *token < branch.body.end);
            hidden.extend(from..to);
        }
    }
    hidden
}

/// Every branch holds whole statements, and the group stands where a statement may begin.
fn is_around_statements(
    source: &Source<'_>,
    macros: &MacroTable,
    group: &Group,
    hidden: &FxHashSet<usize>,
) -> bool {
    let before = source.live.partition_point(|token| *token < group.start());
    let behind = source.live.partition_point(|token| *token < group.end);
    if before == 0 || hidden.contains(&before) {
        return false;
    }
    let ends_statement = |position: usize| match source.text(position) {
        b";" | b"}" | b":" => true,
        b")" => ends_macro(source, macros, position),
        _ => {
            source.is_name(position)
                && macros
                    .get(source.name(position))
                    .is_some_and(|known| known.class == MacroClass::Statement)
        }
    };
    let begins_statement = |position: usize| match source.text(position) {
        b"{" | b"*" | b"(" | b"++" | b"--" | b";" => true,
        b"else" => false,
        _ => source.is_identifier(position),
    };
    if !(source.text(before - 1) == b"{" || ends_statement(before - 1)) {
        return false;
    }
    if source.text_or_end(behind) == b"else" {
        return false;
    }
    group
        .branches
        .iter()
        .filter(|branch| !branch.dead)
        .all(|branch| {
            let from = source
                .live
                .partition_point(|token| *token < branch.body.start);
            let to = source
                .live
                .partition_point(|token| *token < branch.body.end);
            from == to || (begins_statement(from) && ends_statement(to - 1))
        })
}

/// A closing parenthesis that ends a macro invocation rather than the head of a control statement.
fn ends_macro(source: &Source<'_>, macros: &MacroTable, close: usize) -> bool {
    let Some(open) = (0..close)
        .rev()
        .take(400)
        .find(|position| source.closes[*position] == close)
    else {
        return false;
    };
    open > 0
        && source.is_name(open - 1)
        && (words::in_capitals(source.text(open - 1))
            || macros.get(source.name(open - 1)).is_some())
        && macros
            .get(source.name(open - 1))
            .is_none_or(|known| known.class != MacroClass::LoopHead)
}

pub(super) struct Masker<'s, 'b> {
    pub(super) source: &'s Source<'b>,
    pub(super) macros: &'s MacroTable,
    pub(super) shown: Vec<usize>,
    pub(super) masked: Masked,
    /// Closing parentheses behind which a controlled statement begins.
    pub(super) head_closes: FxHashSet<usize>,
    pub(super) at_statement: bool,
    pub(super) in_case: bool,
}

impl Masker<'_, '_> {
    pub(super) fn run(&mut self) -> Result<(), String> {
        let mut index = 0;
        while index < self.shown.len() {
            let position = self.shown[index];
            let next = if self.source.is_identifier(position) {
                self.identifier(index)?
            } else {
                self.other(index)
            };
            debug_assert!(next > index, "every step moves on");
            index = next;
        }
        Ok(())
    }

    pub(super) fn text(&self, index: usize) -> &[u8] {
        self.shown
            .get(index)
            .map_or(&b""[..], |position| self.source.text(*position))
    }

    pub(super) fn previous(&self, index: usize) -> &[u8] {
        if index == 0 {
            b""
        } else {
            self.text(index - 1)
        }
    }

    /// The index of the bracket that closes the one at `index`.
    pub(super) fn close_of(&self, index: usize) -> Option<usize> {
        let close = *self.source.closes.get(*self.shown.get(index)?)?;
        if close == NONE {
            return None;
        }
        self.shown.binary_search(&close).ok()
    }

    pub(super) fn copy(&mut self, index: usize) {
        let token = self.source.at(self.shown[index]);
        let from = (token.start - self.masked.base) as usize;
        let text = token.text(self.source.bytes);
        self.masked.text[from..from + text.len()].copy_from_slice(text);
    }

    pub(super) fn copy_all(&mut self, from: usize, to: usize) {
        for index in from..=to {
            self.copy(index);
        }
    }

    pub(super) fn blank(&mut self, from: usize, to: usize) {
        for index in from..=to {
            let start = self.source.at(self.shown[index]).start;
            self.masked.blanked.insert(start);
        }
    }

    /// Writes a text at the start of a token.
    pub(super) fn put(&mut self, index: usize, text: &str) {
        let from = (self.source.at(self.shown[index]).start - self.masked.base) as usize;
        self.masked.text[from..from + text.len()].copy_from_slice(text.as_bytes());
    }

    pub(super) fn put_at_end(&mut self, index: usize, byte: u8) {
        let end = (self.source.at(self.shown[index]).end - self.masked.base) as usize;
        self.masked.text[end - 1] = byte;
    }

    pub(super) fn length(&self, from: usize, to: usize) -> usize {
        let start = self.source.at(self.shown[from]).start;
        (self.source.at(self.shown[to]).end - start) as usize
    }

    /// Anything but an identifier; answers the next index.
    pub(super) fn other(&mut self, index: usize) -> usize {
        let position = self.shown[index];
        let previous_is_operand = self.source.at(position.saturating_sub(1)).kind
            != TokenKind::Punctuator
            && !words::is_keyword(self.previous(index))
            || matches!(self.previous(index), b")" | b"]");
        match self.text(index) {
            // The address of a label, a GNU extension.
            b"&&" if !previous_is_operand && self.source.is_name(position + 1) => {
                self.blank(index, index);
                return index + 1;
            }
            b"..." if self.in_case => {
                self.put(index, " + ");
                return index + 1;
            }
            b"[" if self.text(index + 1) == b"[" => {
                if let Some(close) = self.close_of(index) {
                    self.blank(index, close);
                    return close + 1;
                }
            }
            _ => {}
        }
        self.copy(index);
        self.at_statement = match self.text(index) {
            b";" | b"{" | b"}" => {
                self.in_case = false;
                true
            }
            b":" if self.in_case || self.is_label(index) => {
                self.in_case = false;
                true
            }
            b")" => self.head_closes.contains(&position),
            _ => false,
        };
        index + 1
    }

    pub(super) fn is_label(&self, colon: usize) -> bool {
        colon >= 2
            && self.source.is_name(self.shown[colon - 1])
            && matches!(self.text(colon - 2), b";" | b"{" | b"}" | b":" | b")")
    }

    pub(super) fn identifier(&mut self, index: usize) -> Result<usize, String> {
        let text = self.text(index);
        if words::is_keyword(text) {
            return Ok(self.keyword(index));
        }
        let member = matches!(self.previous(index), b"." | b"->" | b"goto");
        let known = self.macros.get(self.source.name(self.shown[index]));
        let class = known.map(|known| known.class);
        if class == Some(MacroClass::Unbalanced) && !member {
            let name = String::from_utf8_lossy(self.text(index)).into_owned();
            return Err(format!(
                "macro '{name}' opens or closes a bracket, or has a case"
            ));
        }
        let opens = self.text(index + 1) == b"(";
        if member || (self.at_statement && self.text(index + 1) == b":") {
            self.copy(index);
            self.at_statement = false;
            return Ok(index + 1);
        }
        match self.close_of(index + 1).filter(|_| opens) {
            Some(close) => self.invocation(index, close, class),
            None => self.plain_name(index, class),
        }
    }

    pub(super) fn keyword(&mut self, index: usize) -> usize {
        let text = self.text(index).to_vec();
        let group = match self.text(index + 1) {
            b"(" => self.close_of(index + 1),
            _ => None,
        };
        if words::is_attribute_call(&text) || text == b"__label__" {
            let last = group.unwrap_or(index);
            self.blank(index, last);
            return last + 1;
        }
        if words::is_asm(&text) {
            return self.asm(index);
        }
        if words::is_typeof(&text) || words::makes_type_of_group(&text) && group.is_some() {
            let last = group.unwrap_or(index);
            self.blank(index, last);
            self.put(index, "int");
            self.at_statement = false;
            return last + 1;
        }
        if matches!(text.as_slice(), b"if" | b"while" | b"switch" | b"for") {
            self.copy(index);
            if let Some(close) = group {
                self.head_closes.insert(self.shown[close]);
            } else if let Some(last) = self.bare_condition(index + 1) {
                self.at_statement = true;
                return last + 1;
            }
            self.at_statement = false;
            return index + 1;
        }
        if text == b"goto" && self.text(index + 1) == b"*" {
            // A computed goto: the builder looks at the tokens and finds the star.
            self.copy(index);
            self.put(index + 1, "x");
            let mut last = index + 1;
            while last + 1 < self.shown.len() && self.text(last + 1) != b";" {
                last += 1;
            }
            self.at_statement = false;
            return last + 1;
        }
        if words::is_qualifier(&text) && !matches!(text.as_slice(), b"static" | b"extern" | b"auto")
        {
            self.blank(index, index);
            return index + 1;
        }
        if matches!(text.as_slice(), b"case" | b"default") {
            self.in_case = true;
        }
        self.copy(index);
        self.at_statement = matches!(text.as_slice(), b"else" | b"do");
        index + 1
    }

    /// `if MACRO(x) {`: the macro brings the parentheses. Answers its last index.
    pub(super) fn bare_condition(&mut self, index: usize) -> Option<usize> {
        if !self.source.is_name(*self.shown.get(index)?) {
            return None;
        }
        let last = match self.text(index + 1) {
            b"(" => self.close_of(index + 1)?,
            _ => index,
        };
        if self.length(index, last) < 3 {
            return None;
        }
        self.put(index, "(0");
        self.put_at_end(last, b')');
        let start = self.source.at(self.shown[index]).start;
        let end = self.source.at(self.shown[last]).end;
        self.masked.irregular.push((start, end));
        Some(last)
    }

    /// An `asm` statement is shown as a name; a part of a declaration is taken out.
    pub(super) fn asm(&mut self, index: usize) -> usize {
        let mut last = index;
        while last + 1 < self.shown.len() && self.source.is_identifier(self.shown[last + 1]) {
            last += 1;
        }
        if matches!(self.text(last + 1), b"(" | b"{")
            && let Some(close) = self.close_of(last + 1)
        {
            last = close;
        }
        if self.at_statement {
            self.put(index, "a");
            if self.text(last + 1) != b";" {
                self.put_at_end(last, b';');
                self.at_statement = true;
            } else {
                self.at_statement = false;
            }
        } else {
            self.blank(index, last);
        }
        last + 1
    }
}
