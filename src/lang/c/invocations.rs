//! Uses of macros in the parser's text: what each is shown as.

use crate::lang::c::lexer::TokenKind;
use crate::lang::c::macros::MacroClass;
use crate::lang::c::mask::{HEAD, Masker};
use crate::lang::c::words;

impl Masker<'_, '_> {
    /// `NAME(...)`, a call or the use of a macro with arguments.
    pub(super) fn invocation(
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
    pub(super) fn plain_name(
        &mut self,
        index: usize,
        class: Option<MacroClass>,
    ) -> Result<usize, String> {
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
    pub(super) fn head(&mut self, from: usize, to: usize) -> Result<usize, String> {
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
    pub(super) fn statement(&mut self, from: usize, to: usize) -> usize {
        if self.length(from, to) == 1 {
            self.put(from, ";");
        } else {
            self.put(from, "a");
            self.put_at_end(to, b';');
        }
        self.at_statement = true;
        to + 1
    }

    pub(super) fn type_name(&mut self, from: usize, to: usize) -> usize {
        self.blank(from, to);
        self.put(from, "int");
        self.at_statement = false;
        to + 1
    }

    pub(super) fn mask_arguments(&mut self, index: usize, close: usize) {
        self.copy_all(index, index + 1);
        self.copy(close);
        if close > index + 2 {
            self.put(index + 2, "0");
        }
    }

    pub(super) fn new_line(&self, index: usize) -> bool {
        let Some(next) = self.shown.get(index + 1) else {
            return false;
        };
        let here = self.source.at(self.shown[index]).end;
        let there = self.source.at(*next).start;
        self.source.line_of(there) > self.source.line_of(here)
    }

    pub(super) fn starts_statement(&self, index: usize) -> bool {
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
    pub(super) fn has_odd_arguments(&self, open: usize, close: usize) -> bool {
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
