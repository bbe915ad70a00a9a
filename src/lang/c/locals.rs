//! Local declarations: nodes only for what is executed; everything else reaches the uses of the names it declares.

use std::ops::Range;

use tree_sitter::Node as Syntax;

use crate::lang::c::flow::Flow;
use crate::lang::c::graph::Ends;
use crate::lang::c::macros::MacroClass;
use crate::lang::cfg::NodeKind;

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
        let is_linked = self.has_word(&specifiers, "extern");
        let is_inferred =
            self.has_word(&specifiers, "auto") || self.has_word(&specifiers, "__auto_type");
        self.bind_types(syntax.child_by_field_name("type"), &specifiers);
        // The attribute `cleanup` acts although nothing is assigned, and a macro for attributes may bring it.
        let all = self.describer.tokens_of(syntax);
        let mut is_executed = self.has_word(&all, "cleanup")
            || self.has_word(&all, "__cleanup__")
            || self.has_attribute_macro(&all);
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
            let whole = if is_static || is_inferred {
                *declarator
            } else {
                shape
            };
            let parts = [specifiers.clone(), self.describer.tokens_of(whole)];
            let start = self.describer.start(name);
            let mut binding = self.describer.binding(&self.scopes, &parts, &[start]);
            let name_token = self.name_of(name);
            if is_linked || is_function(shape) {
                binding.mentions.push(name_token);
            }
            self.scopes.bind(name_token, binding, chain);
        }
        if syntax.kind() == "type_definition" || !is_executed {
            return Ok(ends);
        }
        self.evaluate(NodeKind::Statement, syntax, ends)
    }

    /// A type that is defined without declaring anything of it.
    pub(super) fn type_alone(&mut self, syntax: Syntax<'t>, ends: Ends) -> Result<Ends, String> {
        let tokens = self.describer.tokens_of(syntax);
        self.bind_types(Some(syntax), &tokens);
        if has_computed_bound(syntax) {
            return self.evaluate(NodeKind::Statement, syntax, ends);
        }
        Ok(ends)
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
