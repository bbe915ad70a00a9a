//! Local declarations: nodes only for what is executed; everything else reaches the uses of the names it declares.

use std::ops::Range;

use tree_sitter::Node as Syntax;

use crate::digest::Name;
use crate::lang::c::flow::Flow;
use crate::lang::c::graph::Ends;
use crate::lang::c::lexer::TokenKind;
use crate::lang::c::macros::MacroClass;
use crate::lang::c::words;
use crate::lang::cfg::{Label, NodeKind};

/// What a declaration's macros may say about its storage: `static`, `extern`.
#[derive(Default)]
struct Storage {
    stores: bool,
    links: bool,
}

impl<'t> Flow<'_, '_, '_> {
    pub(super) fn declaration(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<Ends, String> {
        let mut cursor = syntax.walk();
        let declarators: Vec<Syntax<'t>> = syntax
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        let end = declarators
            .first()
            .map_or(self.describer.end(syntax), |first| {
                self.describer.start(*first)
            });
        let specifiers = self.describer.tokens(self.describer.start(syntax), end);
        let chain = self.chain(&specifiers);
        let is_static = self.has_word(&specifiers, "static");
        let stored = self.storage(&specifiers);
        let is_linked = self.has_word(&specifiers, "extern") || stored.links;
        let is_inferred =
            self.has_word(&specifiers, "auto") || self.has_word(&specifiers, "__auto_type");
        self.bind_types(syntax.child_by_field_name("type"), &specifiers);
        // The attribute `cleanup` acts although nothing is assigned, and a macro for attributes may come to bring it.
        let all = self.describer.tokens_of(syntax);
        let mut is_executed = self.has_attribute_macro(&all)
            || self.is_named_by_macro(&all)
            || self.evaluates_type(syntax, &specifiers);
        for declarator in &declarators {
            let value = declarator.child_by_field_name("value");
            let shape = match value {
                Some(_) => declarator
                    .child_by_field_name("declarator")
                    .unwrap_or(*declarator),
                None => *declarator,
            };
            is_executed |= (value.is_some() && !is_static) || has_computed_bound(shape);
            let Some(name) = declared_name(shape) else {
                continue;
            };
            // A static's initial value is not executed but belongs to the variable; a type may be inferred from one.
            let whole = if is_static || stored.stores || is_inferred {
                *declarator
            } else {
                shape
            };
            let parts = [specifiers.clone(), self.describer.tokens_of(whole)];
            let start = self.describer.start(name);
            let mut binding = self.describer.binding(&self.scopes, &parts, &[start]);
            let name_token = self.name_of(name);
            let macros = self.describer.macros;
            is_executed |= is_function(shape) && macros.get(name_token).is_some();
            if is_linked || is_function(shape) {
                binding.mentions.push(name_token);
            }
            self.scopes.bind(name_token, binding, chain);
        }
        if self.cleans(&all) {
            return self.cleaned(syntax, ends);
        }
        if !is_executed {
            return Ok(ends);
        }
        self.evaluate(NodeKind::Statement, syntax, ends)
    }

    /// A variable that is cleaned up where its block ends.
    fn cleaned(&mut self, syntax: Syntax<'t>, mut ends: Ends) -> Result<Ends, String> {
        let tokens = self.describer.tokens_of(syntax);
        let block = syntax.parent().filter(|block| block.parent().is_some());
        if let Some(block) = block.map(|block| self.describer.tokens_of(block))
            && ["goto", "break", "continue"]
                .iter()
                .any(|word| self.has_word(&block, word))
        {
            // What a jump out of the block cleans up depends on where the block ends: all of it counts.
            let mut node = self.describer.node(&self.scopes, block);
            node.span = self.describer.source.span(&tokens);
            ends = vec![(self.graph.node(node, ends), Label::Next)];
        }
        let end = self.describer.node(&self.scopes, tokens);
        self.scopes.clean_up(end);
        self.evaluate(NodeKind::Statement, syntax, ends)
    }

    /// What leaving a block in the ordinary way cleans up.
    pub(super) fn end_of_block(&mut self, syntax: Syntax<'t>, mut ends: Ends) -> Ends {
        let end = self.describer.end(syntax);
        let brace = self.describer.tokens(end.saturating_sub(1), end);
        for mut node in self.scopes.close() {
            if !ends.is_empty() && !brace.is_empty() {
                node.span = self.describer.source.span(&brace);
                ends = vec![(self.graph.node(node, ends), Label::Next)];
            }
        }
        ends
    }

    /// A type that is defined without declaring anything of it.
    pub(super) fn type_alone(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<Ends, String> {
        let tokens = self.describer.tokens_of(syntax);
        self.bind_types(Some(syntax), &tokens);
        if has_computed_bound(syntax) || self.is_named_by_macro(&tokens) {
            return self.evaluate(NodeKind::Statement, syntax, ends);
        }
        Ok(ends)
    }

    /// The members of a local struct, or what stands behind `typeof`, may have a bound that is computed.
    fn evaluates_type(&self, syntax: Syntax<'t>, specifiers: &Range<usize>) -> bool {
        let source = self.describer.source;
        let mut texts = specifiers
            .clone()
            .map(|index| source.tokens[index].text(source.bytes));
        let is_computed = syntax
            .child_by_field_name("type")
            .is_some_and(has_computed_bound);
        is_computed || texts.clone().any(words::is_typeof) && texts.any(|text| text == b"[")
    }

    /// The storage class that macros among the specifiers may bring; one from outside the tree may bring any.
    fn storage(&self, specifiers: &Range<usize>) -> Storage {
        let source = self.describer.source;
        let texts = specifiers
            .clone()
            .map(|index| &source.tokens[index])
            .filter(|token| token.kind == TokenKind::Identifier)
            .map(|token| token.text(source.bytes));
        let mut storage = Storage::default();
        for text in texts.filter(|text| !words::is_keyword(text)) {
            match self.describer.macros.get(Name::of(text)) {
                Some(known) => {
                    storage.stores |= known.stores;
                    storage.links |= known.links;
                }
                None if words::in_capitals(text) => {
                    storage.stores = true;
                    storage.links = true;
                }
                None => {}
            }
        }
        storage
    }

    fn cleans(&self, tokens: &Range<usize>) -> bool {
        let source = self.describer.source;
        tokens.clone().any(|index| {
            let text = source.tokens[index].text(source.bytes);
            let known = self.describer.macros.get(Name::of(text));
            words::CLEANUP.contains(&text) || known.is_some_and(|known| known.cleans)
        })
    }

    /// A declared name is what a macro makes of it.
    fn is_named_by_macro(&self, tokens: &Range<usize>) -> bool {
        let source = self.describer.source;
        tokens.clone().any(|index| {
            let next = tokens
                .contains(&(index + 1))
                .then(|| &source.tokens[index + 1]);
            let text = source.tokens[index].text(source.bytes);
            let ends = next.is_none_or(|next| {
                matches!(
                    next.text(source.bytes),
                    b";" | b"," | b"=" | b"[" | b"{" | b":"
                )
            });
            ends && self.describer.macros.replaces(Name::of(text))
        })
    }

    fn has_attribute_macro(&self, tokens: &Range<usize>) -> bool {
        let mut names = self.describer.source.names_in(tokens.clone());
        names.any(|name| {
            let known = self.describer.macros.get(name);
            known.is_some_and(|known| known.class == MacroClass::Blank)
        })
    }

    fn has_word(&self, tokens: &Range<usize>, word: &str) -> bool {
        let source = self.describer.source;
        tokens
            .clone()
            .any(|index| source.tokens[index].is(source.bytes, word))
    }

    /// Tags and enumerators that the specifiers of a declaration define.
    fn bind_types(&mut self, defined: Option<Syntax<'t>>, specifiers: &Range<usize>) {
        let mut waiting: Vec<Syntax<'t>> = defined.into_iter().collect();
        let mut names = Vec::new();
        while let Some(syntax) = waiting.pop() {
            match syntax.kind() {
                "struct_specifier" | "union_specifier" | "enum_specifier" => {
                    if let Some(body) = syntax.child_by_field_name("body") {
                        names.extend(syntax.child_by_field_name("name").map(|name| (name, true)));
                        waiting.push(body);
                    }
                }
                "enumerator" => {
                    names.extend(syntax.child_by_field_name("name").map(|name| (name, false)));
                }
                "enumerator_list" | "field_declaration_list" | "field_declaration" => {
                    let mut cursor = syntax.walk();
                    waiting.extend(syntax.named_children(&mut cursor));
                }
                _ => {}
            }
        }
        if names.is_empty() {
            return;
        }
        let starts: Vec<u32> = names
            .iter()
            .map(|(name, _)| self.describer.start(*name))
            .collect();
        let parts = std::slice::from_ref(specifiers);
        let binding = self.describer.binding(&self.scopes, parts, &starts);
        let chain = self.chain(specifiers);
        for (name, is_tag) in names {
            let name = self.name_of(name);
            let kept_as = if is_tag { name.tag() } else { name };
            self.scopes.bind_as(kept_as, name, binding.clone(), chain);
        }
    }
}

/// The identifier in the middle of a declarator.
fn declared_name(mut declarator: Syntax<'_>) -> Option<Syntax<'_>> {
    loop {
        match declarator.kind() {
            "identifier" | "type_identifier" => return Some(declarator),
            "parenthesized_declarator" | "attributed_declarator" => {
                declarator = declarator.named_child(0)?;
            }
            _ => declarator = declarator.child_by_field_name("declarator")?,
        }
    }
}

fn is_function(declarator: Syntax<'_>) -> bool {
    declarator.kind() == "function_declarator"
        && declarator
            .child_by_field_name("declarator")
            .is_some_and(|inner| inner.kind() == "identifier")
        || declarator.kind() == "pointer_declarator"
            && declarator
                .child_by_field_name("declarator")
                .is_some_and(is_function)
}

/// An array whose bound is computed when control gets there.
fn has_computed_bound(declarator: Syntax<'_>) -> bool {
    let mut waiting = vec![declarator];
    while let Some(syntax) = waiting.pop() {
        if syntax.kind() == "array_declarator"
            && syntax
                .child_by_field_name("size")
                .is_some_and(|size| size.kind() != "number_literal")
        {
            return true;
        }
        let mut cursor = syntax.walk();
        waiting.extend(syntax.named_children(&mut cursor));
    }
    false
}
