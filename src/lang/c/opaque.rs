//! Statements that could not be understood: one node each, with all that may be inside.

use std::ops::Range;

use crate::digest::Name;
use crate::lang::c::conditionals::State;
use crate::lang::c::flow::Flow;
use crate::lang::c::graph::Ends;
use crate::lang::c::lexer::TokenKind;
use crate::lang::cfg::{Label, NodeKind};

impl Flow<'_, '_, '_> {
    /// What may be declared among opaque tokens, outside blocks, counts for all uses behind them.
    fn bind_opaque(&mut self, tokens: Range<usize>) {
        // Whether a declaration is there is not known, as under a condition of its own.
        const PERHAPS: u32 = u32::MAX;
        let source = self.describer.source;
        let text = |index: usize| {
            source
                .tokens
                .get(index)
                .map(|token| token.text(source.bytes))
        };
        let (mut blocks, mut parentheses) = (0usize, 0usize);
        let mut names = Vec::new();
        for index in tokens.clone() {
            let token = &source.tokens[index];
            match token.text(source.bytes) {
                _ if source.conditionals.states[index] == State::Dead => {}
                b"{" => blocks += 1,
                b"}" => blocks = blocks.saturating_sub(1),
                b"(" => parentheses += 1,
                b")" => parentheses = parentheses.saturating_sub(1),
                word if token.kind == TokenKind::Identifier
                    && blocks == 0
                    && index > 0
                    && !super::words::is_keyword(word) =>
                {
                    let before = &source.tokens[index - 1];
                    let follows_type = match before.text(source.bytes) {
                        b"*" => true,
                        b"," | b"}" => parentheses == 0,
                        word => {
                            before.kind == TokenKind::Identifier && !super::words::is_control(word)
                        }
                    };
                    let ends = text(index + 1).is_none_or(|next| {
                        matches!(next, b";" | b"," | b"=" | b"[" | b"(" | b")" | b"{")
                    });
                    if follows_type && ends {
                        names.push((Name::of(word), token.start));
                    }
                }
                _ => {}
            }
        }
        for (name, start) in names {
            let parts = std::slice::from_ref(&tokens);
            let binding = self.describer.binding(&self.scopes, parts, &[start]);
            self.scopes.bind(name, binding, PERHAPS);
        }
    }

    /// One node for tokens that could not be understood; labels inside lead to it, and it may lead anywhere.
    pub(super) fn opaque(&mut self, tokens: Range<usize>, ends: Ends) -> Result<Ends, String> {
        let source = self.describer.source;
        let text = |index: usize| source.tokens[index].text(source.bytes);
        let mut depth = 0isize;
        let mut labels = Vec::new();
        let mut has_case = false;
        for index in tokens.clone() {
            // Only the branch that the parser was shown gives the structure.
            let is_shown = source.conditionals.states[index] == State::Live;
            match text(index) {
                b"{" | b"(" if is_shown => depth += 1,
                b"}" | b")" if is_shown => depth -= 1,
                b"case" | b"default" => has_case = true,
                b":" if index > tokens.start
                    && source.tokens[index - 1].kind == TokenKind::Identifier =>
                {
                    labels.push(Name::of(text(index - 1)));
                }
                _ => {}
            }
            if depth < 0 {
                break;
            }
        }
        if depth != 0 {
            return Err("an error in it cannot be confined to a statement".to_owned());
        }
        let mut ends = ends;
        for label in labels {
            ends = self.label(label, ends);
        }
        let node = self.add(NodeKind::Opaque, tokens.clone(), &[], ends);
        self.bind_opaque(tokens);
        if has_case && let Some(switch) = self.switches.last_mut() {
            switch.has_default = true;
            let from = switch.node;
            self.graph.connect(vec![(from, Label::Default)], node);
            let behind = self.breaks.last().and_then(|targets| targets.first());
            if let Some(behind) = behind.copied() {
                self.graph.connect(vec![(from, Label::Default)], behind);
            }
        }
        Ok(vec![(node, Label::Next)])
    }
}
