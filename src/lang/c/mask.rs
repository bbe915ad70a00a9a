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
const HEAD: &str = "if(1)";

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

struct Masker<'s, 'b> {
    source: &'s Source<'b>,
    macros: &'s MacroTable,
    shown: Vec<usize>,
    masked: Masked,
    /// Closing parentheses behind which a controlled statement begins.
    head_closes: FxHashSet<usize>,
    at_statement: bool,
    in_case: bool,
}

impl Masker<'_, '_> {
    fn run(&mut self) -> Result<(), String> {
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

    fn text(&self, index: usize) -> &[u8] {
        self.shown
            .get(index)
            .map_or(&b""[..], |position| self.source.text(*position))
    }

    fn previous(&self, index: usize) -> &[u8] {
        if index == 0 {
            b""
        } else {
            self.text(index - 1)
        }
    }

    /// The index of the bracket that closes the one at `index`.
    fn close_of(&self, index: usize) -> Option<usize> {
        let close = *self.source.closes.get(*self.shown.get(index)?)?;
        if close == NONE {
            return None;
        }
        self.shown.binary_search(&close).ok()
    }

    fn copy(&mut self, index: usize) {
        let token = self.source.at(self.shown[index]);
        let from = (token.start - self.masked.base) as usize;
        let text = token.text(self.source.bytes);
        self.masked.text[from..from + text.len()].copy_from_slice(text);
    }

    fn copy_all(&mut self, from: usize, to: usize) {
        for index in from..=to {
            self.copy(index);
        }
    }

    fn blank(&mut self, from: usize, to: usize) {
        for index in from..=to {
            let start = self.source.at(self.shown[index]).start;
            self.masked.blanked.insert(start);
        }
    }

    /// Writes a text at the start of a token.
    fn put(&mut self, index: usize, text: &str) {
        let from = (self.source.at(self.shown[index]).start - self.masked.base) as usize;
        self.masked.text[from..from + text.len()].copy_from_slice(text.as_bytes());
    }

    fn put_at_end(&mut self, index: usize, byte: u8) {
        let end = (self.source.at(self.shown[index]).end - self.masked.base) as usize;
        self.masked.text[end - 1] = byte;
    }

    fn length(&self, from: usize, to: usize) -> usize {
        let start = self.source.at(self.shown[from]).start;
        (self.source.at(self.shown[to]).end - start) as usize
    }

    /// Anything but an identifier; answers the next index.
    fn other(&mut self, index: usize) -> usize {
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

    fn is_label(&self, colon: usize) -> bool {
        colon >= 2
            && self.source.is_name(self.shown[colon - 1])
            && matches!(self.text(colon - 2), b";" | b"{" | b"}" | b":" | b")")
    }

    fn identifier(&mut self, index: usize) -> Result<usize, String> {
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

    fn keyword(&mut self, index: usize) -> usize {
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
        if words::is_typeof(&text) {
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
    fn bare_condition(&mut self, index: usize) -> Option<usize> {
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
    fn asm(&mut self, index: usize) -> usize {
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

    /// `NAME(...)`, a call or the use of a macro with arguments.
    fn invocation(
        &mut self,
        index: usize,
        close: usize,
        class: Option<MacroClass>,
    ) -> Result<usize, String> {
        let follower = self.text(close + 1).to_vec();
        let follower_starts = self.starts_statement(close + 1);
        if self.at_statement {
            match (class, follower.as_slice()) {
                (Some(MacroClass::LoopHead), _) | (_, b"{") => return self.head(index, close),
                (Some(MacroClass::Type), _) if follower != b";" => {
                    return Ok(self.type_name(index, close));
                }
                (Some(MacroClass::Blank), _) if follower != b";" => {
                    self.blank(index, close);
                    return Ok(close + 1);
                }
                (Some(MacroClass::Statement), _) if follower != b";" && !continues(&follower) => {
                    return Ok(self.statement(index, close));
                }
                (_, b"}") => return Ok(self.statement(index, close)),
                (Some(MacroClass::Expression), _) if follower_starts && self.new_line(close) => {
                    return Ok(self.statement(index, close));
                }
                (None, _) if follower_starts && self.new_line(close) => {
                    return self.head(index, close);
                }
                _ => {}
            }
        } else {
            let after_operand = matches!(self.previous(index), b")" | b"]" | b"*")
                || (index > 0
                    && self.source.is_identifier(self.shown[index - 1])
                    && !words::is_control(self.previous(index))
                    && self.previous(index) != b"sizeof");
            let beside_string = |other: usize| {
                self.shown
                    .get(other)
                    .is_some_and(|position| self.source.at(*position).kind == TokenKind::String)
            };
            match class {
                _ if beside_string(close + 1) || (index > 0 && beside_string(index - 1)) => {
                    self.blank(index, close);
                    return Ok(close + 1);
                }
                Some(MacroClass::Blank) if after_operand || follower_starts => {
                    self.blank(index, close);
                    return Ok(close + 1);
                }
                Some(MacroClass::Cast) => {
                    self.blank(index, close);
                    return Ok(close + 1);
                }
                Some(MacroClass::Type) => return Ok(self.type_name(index, close)),
                _ => {}
            }
        }
        self.at_statement = false;
        if class.is_some() || self.has_odd_arguments(index + 1, close) {
            self.mask_arguments(index, close);
            return Ok(close + 1);
        }
        self.copy_all(index, index + 1);
        Ok(index + 2)
    }

    /// A name without arguments.
    fn plain_name(&mut self, index: usize, class: Option<MacroClass>) -> Result<usize, String> {
        let follower = self.text(index + 1).to_vec();
        match class {
            Some(MacroClass::Blank | MacroClass::Cast) => {
                // At the start of a statement of its own it stays a statement.
                if self.at_statement && follower == b";" {
                    self.copy(index);
                } else {
                    self.blank(index, index);
                }
                return Ok(index + 1);
            }
            Some(MacroClass::Operator) => {
                self.put(index, "+");
                let token = self.source.at(self.shown[index]);
                self.masked.irregular.push((token.start, token.end));
                self.at_statement = false;
                return Ok(index + 1);
            }
            Some(MacroClass::LoopHead) if self.at_statement => return self.head(index, index),
            Some(MacroClass::Statement) if self.at_statement && follower != b";" => {
                return Ok(self.statement(index, index));
            }
            _ => {}
        }
        if self.at_statement && class != Some(MacroClass::Type) {
            let before_control = words::is_control(&follower);
            if follower == b"{" || (before_control && self.new_line(index)) {
                return self.head(index, index);
            }
            if follower == b"}" {
                return Ok(self.statement(index, index));
            }
        }
        self.copy(index);
        self.at_statement = false;
        Ok(index + 1)
    }

    /// Shows a macro as the head of the statement that follows it.
    fn head(&mut self, from: usize, to: usize) -> Result<usize, String> {
        if self.length(from, to) < HEAD.len() {
            let name = String::from_utf8_lossy(self.text(from)).into_owned();
            return Err(format!("macro '{name}' stands before a block"));
        }
        self.put(from, HEAD);
        let start = self.source.at(self.shown[from]).start;
        let end = self.source.at(self.shown[to]).end;
        self.masked.heads.insert(start, end);
        self.at_statement = true;
        Ok(to + 1)
    }

    /// Shows a macro that needs no semicolon as a statement with one.
    fn statement(&mut self, from: usize, to: usize) -> usize {
        if self.length(from, to) == 1 {
            self.put(from, ";");
        } else {
            self.put(from, "a");
            self.put_at_end(to, b';');
        }
        self.at_statement = true;
        to + 1
    }

    fn type_name(&mut self, from: usize, to: usize) -> usize {
        self.blank(from, to);
        self.put(from, "int");
        self.at_statement = false;
        to + 1
    }

    fn mask_arguments(&mut self, index: usize, close: usize) {
        self.copy_all(index, index + 1);
        self.copy(close);
        if close > index + 2 {
            self.put(index + 2, "0");
        }
    }

    fn new_line(&self, index: usize) -> bool {
        let Some(next) = self.shown.get(index + 1) else {
            return false;
        };
        let here = self.source.at(self.shown[index]).end;
        let there = self.source.at(*next).start;
        self.source.line_of(there) > self.source.line_of(here)
    }

    fn starts_statement(&self, index: usize) -> bool {
        self.shown.get(index).is_some_and(|position| {
            let is_operator = self
                .macros
                .get(self.source.name(*position))
                .is_some_and(|known| known.class == MacroClass::Operator);
            (self.source.is_identifier(*position) && !is_operator)
                || matches!(self.source.text(*position), b"++" | b"--")
        })
    }

    /// Arguments that no function call could have: statements, types, operators, nothing.
    fn has_odd_arguments(&self, open: usize, close: usize) -> bool {
        if close == open + 1 {
            return false;
        }
        let mut depth = 0usize;
        let mut braces = 0usize;
        for index in open + 1..close {
            let text = self.text(index);
            let begins = depth == 0 && (index == open + 1 || self.text(index - 1) == b",");
            let ends = depth == 0 && (index + 1 == close || self.text(index + 1) == b",");
            match text {
                b"(" | b"[" => depth += 1,
                b")" | b"]" => depth = depth.saturating_sub(1),
                b"{" => braces += 1,
                b"}" => braces = braces.saturating_sub(1),
                b";" | b"#" | b"##" if braces == 0 => return true,
                _ => {}
            }
            if braces > 0 {
                continue;
            }
            let identifier = self.source.is_identifier(self.shown[index]);
            if identifier && words::is_control(text) {
                return true;
            }
            if depth > 0 {
                continue;
            }
            if identifier {
                let is_type = words::is_type_word(text) || words::is_qualifier(text);
                let beside = self.source.is_name(self.shown[index])
                    && index + 1 < close
                    && self.source.is_name(self.shown[index + 1])
                    && self
                        .macros
                        .get(self.source.name(self.shown[index]))
                        .is_none()
                    && self
                        .macros
                        .get(self.source.name(self.shown[index + 1]))
                        .is_none();
                if is_type || beside {
                    return true;
                }
            } else if self.source.at(self.shown[index]).kind == TokenKind::Punctuator {
                let unary = matches!(
                    text,
                    b"(" | b"*"
                        | b"&"
                        | b"-"
                        | b"+"
                        | b"!"
                        | b"~"
                        | b"++"
                        | b"--"
                        | b"{"
                        | b"["
                        | b"&&"
                );
                let postfix = matches!(text, b")" | b"]" | b"}" | b"++" | b"--" | b",");
                if (begins && !unary) || (ends && !postfix) || (text == b"," && index + 1 == close)
                {
                    return true;
                }
            }
        }
        false
    }
}

/// Tokens behind an invocation that make it the start of a longer expression.
fn continues(follower: &[u8]) -> bool {
    matches!(
        follower,
        b"=" | b"."
            | b"->"
            | b"["
            | b","
            | b"?"
            | b"+="
            | b"-="
            | b"|="
            | b"&="
            | b"^="
            | b"*="
            | b"/="
            | b"("
            | b"=="
            | b"!="
    )
}
