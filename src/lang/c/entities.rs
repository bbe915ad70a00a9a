//! Items to entities: the functions, variables, types and macros of a file, and what is left of it (TestTube, section 3).

use std::ops::Range;

use crate::digest::{Digest, Name, Names};
use crate::lang::c::body::{self, Granularity};
use crate::lang::c::conditionals::State;
use crate::lang::c::declarators::{
    Declarator, declarators, function_name, other_function_names, prototype_of_empty_macro,
    top_level,
};
use crate::lang::c::declared::declared;
use crate::lang::c::directives::include;
use crate::lang::c::enums;
use crate::lang::c::items::{Item, ItemKind, items};
use crate::lang::c::lexer::TokenKind;
use crate::lang::c::macros::MacroTable;
use crate::lang::c::source::{NONE, Source};
use crate::lang::c::words;
use crate::lang::cfg::Span;
use crate::lang::facts::{Entity, FileFacts, Kind};

/// All facts of a file.
pub(crate) fn facts(
    mut source: Source<'_>,
    macros: &MacroTable,
    granularity: Granularity,
) -> FileFacts {
    let items = items(&source, macros);
    for item in &items {
        let last = match item.kind {
            ItemKind::Definition { open } => open - 1,
            ItemKind::Declaration => item.last,
            ItemKind::Remainder => continue,
        };
        let positions = declared(&source, item.first, last);
        source
            .declared
            .extend(positions.into_iter().map(|position| source.live[position]));
    }
    let source = &source;
    let mut reader = Reader {
        source,
        macros,
        granularity,
        facts: FileFacts::default(),
    };
    for item in &items {
        reader.item(item);
    }
    let inside = |token: usize| {
        let next = items.partition_point(|item| source.live[item.first] <= token);
        next > 0 && token <= source.live[items[next - 1].last]
    };
    for directive in &source.conditionals.directives {
        if source.conditionals.states[directive.tokens.start] != State::Dead {
            reader.directive(directive, inside(directive.tokens.start));
        }
    }
    reader.pragma_operators();
    let mut facts = reader.facts;
    facts
        .entities
        .sort_by_key(|entity| (entity.span.start, entity.span.end));
    facts
}

/// The whole text as one remainder, where it cannot be read with certainty.
pub(crate) fn unread(bytes: &[u8], name: &str) -> Entity {
    let digest = crate::digest::bytes(bytes);
    Entity {
        kind: Kind::File,
        name: name.to_owned(),
        span: Span {
            start: 0,
            end: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            line: 1,
        },
        end_line: 1,
        declaration: false,
        internal: false,
        conditional: false,
        unmentioned: None,
        digest,
        interface: digest,
        mentions: Names::default(),
        pastes: Vec::new(),
        body: None,
    }
}

/// The facts of a file while they are being gathered.
pub(super) struct Reader<'s, 'b> {
    pub(super) source: &'s Source<'b>,
    pub(super) macros: &'s MacroTable,
    granularity: Granularity,
    pub(super) facts: FileFacts,
}

impl Reader<'_, '_> {
    fn item(&mut self, item: &Item) {
        match item.kind {
            ItemKind::Definition { open } => self.definition(item, open),
            ItemKind::Declaration => self.declaration(item),
            ItemKind::Remainder => self.remainder(self.source.token_range(item.first, item.last)),
        }
    }

    fn text(&self, position: usize) -> String {
        String::from_utf8_lossy(self.source.text(position)).into_owned()
    }

    /// An entity over some tokens, with the conditions around them.
    pub(super) fn entity(&self, kind: Kind, name: String, tokens: &Range<usize>) -> Entity {
        let mut digest = Digest::new();
        self.source.absorb(&mut digest, tokens.clone());
        let mut mentions: Vec<Name> = self.source.mentions_in(tokens.clone()).collect();
        self.add_surroundings(tokens, &mut digest, &mut mentions);
        let digest = digest.finish();
        Entity {
            kind,
            name,
            span: self.source.span(tokens),
            end_line: self
                .source
                .line_of(self.source.tokens[tokens.end - 1].start),
            declaration: false,
            internal: false,
            conditional: self.source.conditionals.chain_of[tokens.start] != 0,
            unmentioned: None,
            digest,
            interface: digest,
            mentions: Names::new(mentions),
            pastes: Vec::new(),
            body: None,
        }
    }

    /// The conditions around an entity count for it, and so do the files that are included in its middle.
    fn add_surroundings(
        &self,
        tokens: &Range<usize>,
        digest: &mut Digest,
        mentions: &mut Vec<Name>,
    ) {
        let conditionals = &self.source.conditionals;
        digest.absorb(conditionals.around(tokens.start).digest);
        mentions.extend(conditionals.names_around(tokens.start));
        mentions.extend(self.included_in(tokens));
    }

    fn included_in(&self, tokens: &Range<usize>) -> Vec<Name> {
        let directives = &self.source.conditionals.directives;
        let first = directives.partition_point(|directive| directive.tokens.start < tokens.start);
        directives[first..]
            .iter()
            .take_while(|directive| directive.tokens.start < tokens.end)
            .filter_map(|directive| include(self.source, directive))
            .map(|include| Name::of_included(include.path.as_bytes()))
            .collect()
    }

    fn definition(&mut self, item: &Item, open: usize) {
        let whole = self.source.token_range(item.first, item.last);
        let Some(name) = function_name(self.source, self.macros, item, open) else {
            return self.remainder(whole);
        };
        if name > item.first && matches!(self.source.text(name - 1), b"struct" | b"union" | b"enum")
        {
            // No function: a macro makes the tag of a type.
            return self.remainder(whole);
        }
        self.nested_types(item, open, None);
        let signature = self.source.token_range(item.first, open - 1);
        let mut text = self.text(name);
        if self.macros.get(self.source.name(name)).is_some() && self.source.text(name + 1) == b"(" {
            // A macro makes the name of the function: the invocation stands for it.
            let close = self.source.closes[name + 1];
            text = (name..=close).map(|position| self.text(position)).collect();
        }
        let mut entity = self.entity(Kind::Function, text, &whole);
        let mut interface = Digest::new();
        self.source.absorb(&mut interface, signature.clone());
        let mut mentions: Vec<Name> = self.source.mentions_in(signature.clone()).collect();
        self.add_surroundings(&signature, &mut interface, &mut mentions);
        entity.interface = interface.finish();
        entity.internal = self.has_word(&signature, b"static");
        let states = &self.source.conditionals.states[signature.clone()];
        entity.conditional |= states.contains(&State::Directive);
        entity.unmentioned = self.acts_unmentioned(&signature);
        let included = self.included_in(&whole);
        let body = body::body(
            self.source,
            self.macros,
            self.granularity,
            &body::Definition {
                item: *item,
                name,
                open,
                interface: entity.interface,
                included,
            },
        );
        entity.mentions = Names::new(mentions);
        let inside = self.source.token_range(open, item.last);
        entity.body = Some(crate::lang::facts::Body {
            digest: entity.digest,
            mentions: body.mentions,
            flow: body.flow,
            locals: body.locals,
            unmentioned: self
                .acts_unmentioned(&inside)
                .or_else(|| self.assembles(&inside)),
        });
        self.other_names(item, open, name, &entity);
        self.facts.entities.push(entity);
    }

    /// Where a macro in the signature may hide the name, a change of the signature counts under every name.
    fn other_names(&mut self, item: &Item, open: usize, name: usize, definition: &Entity) {
        for other in other_function_names(self.source, self.macros, item, open, name) {
            let mut entity = definition.clone();
            entity.name = self.text(other);
            entity.declaration = true;
            entity.digest = entity.interface;
            entity.body = None;
            self.facts.entities.push(entity);
        }
    }

    fn declaration(&mut self, item: &Item) {
        if words::is_static_assertion(self.source.text(item.first)) {
            // It declares nothing, and a program that was built cannot tell that it was there.
            return;
        }
        let mut tops = top_level(self.source, self.macros, item.first, item.last);
        if let Some(name) = prototype_of_empty_macro(self.source, item.first, item.last)
            && !tops.contains(&name)
        {
            tops.extend([name, name + 1]);
            tops.sort_unstable();
        }
        let whole = self.source.token_range(item.first, item.last);
        let words: Vec<&[u8]> = tops
            .iter()
            .map(|position| self.source.text(*position))
            .collect();
        match words.as_slice() {
            [] | [b";"] => {
                // Nothing but attributes, or an empty declaration.
                if whole.len() > 1 {
                    self.remainder(whole);
                }
                return;
            }
            [name, b";"] | [name, b"(", b";"] if !words::is_type_word(name) => {
                return self.remainder(whole);
            }
            [b"_Static_assert" | b"static_assert", ..] => return self.remainder(whole),
            _ => {}
        }
        let is_typedef = words.contains(&&b"typedef"[..]);
        let keyword = words
            .iter()
            .position(|word| matches!(*word, b"struct" | b"union" | b"enum"));
        let members = keyword.and_then(|keyword| {
            let open = (keyword..tops.len()).find(|index| words[*index] == b"{")?;
            let named_between = words[keyword..open].contains(&&b"("[..])
                || words[keyword..open].contains(&&b"="[..]);
            (!named_between && self.source.closes[tops[open]] != NONE).then_some(open)
        });
        self.nested_types(item, item.last, members.map(|open| tops[open]));
        let mut specifier_end = tops.len();
        if let (Some(keyword), Some(open)) = (keyword, members) {
            self.type_definition(item, &tops, keyword, open);
            specifier_end = open;
        } else if let ([.., b";"], Some(keyword)) = (words.as_slice(), keyword)
            && keyword + 3 == words.len()
        {
            // `struct s;` announces a type.
            let mut entity = self.entity(Kind::Type, self.text(tops[keyword + 1]), &whole);
            entity.declaration = true;
            self.facts.entities.push(entity);
            return;
        }
        let rest = if specifier_end < tops.len() {
            &tops[specifier_end + 1..]
        } else {
            &tops[..]
        };
        let is_typed = specifier_end < tops.len();
        let found = declarators(self.source, self.macros, rest, item.last, is_typed);
        let is_doubtful =
            |declarator: &Declarator| declarator.is_doubtful || self.is_named_by_macro(declarator);
        let declares_nothing =
            found.is_empty() && members.is_none() && self.says_something(&tops, item);
        if declares_nothing || found.iter().any(is_doubtful) {
            // Only a macro knows what is declared here.
            self.remainder(whole);
        }
        for declarator in found {
            self.declarator(
                item,
                &declarator,
                is_typedef,
                members.map(|open| (tops[open], words[keyword.unwrap_or(0)] == b"enum")),
            );
        }
    }

    /// More than a semicolon or a macro that stands for nothing.
    fn says_something(&self, tops: &[usize], item: &Item) -> bool {
        let assembles = (item.first..=item.last).any(|at| words::is_asm(self.source.text(at)));
        assembles || tops.len() > 1
    }

    /// Tags and enumerators that are declared inside another declaration: they depend on all of it.
    fn nested_types(&mut self, item: &Item, last: usize, own: Option<usize>) {
        let whole = self.source.token_range(item.first, item.last);
        let mut names: Vec<String> = Vec::new();
        for at in item.first..last {
            if !matches!(self.source.text(at), b"struct" | b"union" | b"enum") {
                continue;
            }
            let is_open = |position: &usize| {
                self.source.text(*position) == b"{" && self.source.closes[*position] != NONE
            };
            let mut words = at + 1..last.min(at + 4);
            let open =
                words.find(|position| is_open(position) || !self.source.is_identifier(*position));
            let Some(open) = open.filter(|open| is_open(open) && Some(*open) != own) else {
                continue;
            };
            names.extend((at + 1..open).map(|position| self.text(position)));
            if self.source.text(at) == b"enum" {
                let close = self.source.closes[open];
                let found = enums::enumerators(self.source, open, close);
                names.extend(found.into_iter().map(|enumerator| enumerator.name));
            }
        }
        for name in names {
            let entity = self.entity(Kind::Type, name, &whole);
            self.facts.entities.push(entity);
        }
    }

    /// A struct, union or enum with its members.
    fn type_definition(&mut self, item: &Item, tops: &[usize], keyword: usize, open: usize) {
        let is_enum = self.source.text(tops[keyword]) == b"enum";
        let close = self.source.closes[tops[open]];
        let tokens = self.source.token_range(item.first, close);
        let tag = tops[keyword + 1..open]
            .iter()
            .rev()
            .copied()
            .find(|position| self.source.is_name(*position));
        let is_named_by_macro = tag.is_some_and(|tag| self.macros.replaces(self.source.name(tag)));
        if is_named_by_macro
            || is_enum && !enums::is_plain(self.source, self.macros, tops[open], close)
        {
            // Which names it declares, and with which values, is not to be seen.
            self.remainder(self.source.token_range(item.first, item.last));
        }
        if is_enum {
            for enumerator in enums::enumerators(self.source, tops[open], close) {
                let mut entity = self.entity(Kind::Type, enumerator.name, &enumerator.tokens);
                let mut digest = Digest::new();
                digest.absorb(enumerator.digest);
                let mut mentions = enumerator.mentions;
                self.add_surroundings(&tokens, &mut digest, &mut mentions);
                entity.digest = digest.finish();
                entity.interface = entity.digest;
                entity.mentions = Names::new(mentions);
                self.facts.entities.push(entity);
            }
        }
        if let Some(tag) = tag {
            let name = self.text(tag);
            // Attributes behind the members belong to the type.
            let whole = self.source.token_range(item.first, item.last);
            let mut entity = self.entity(Kind::Type, name, if is_enum { &tokens } else { &whole });
            if is_enum {
                self.shorten_enum(&mut entity, item, tops[open], None);
            }
            self.facts.entities.push(entity);
        }
    }

    /// An enum's type depends on its enumerators only as far as they decide its representation.
    fn shorten_enum(
        &self,
        entity: &mut Entity,
        item: &Item,
        open: usize,
        declarator: Option<&Declarator>,
    ) {
        let (first, close) = (item.first, self.source.closes[open]);
        let Some(representation) = enums::representation(self.source, open, close) else {
            return;
        };
        let mut digest = Digest::new();
        let mut mentions = Vec::new();
        let mut take = |from: usize, to: usize| {
            let tokens = self.source.token_range(from, to);
            self.source.absorb(&mut digest, tokens.clone());
            mentions.extend(self.source.mentions_in(tokens));
        };
        take(first, open);
        // Attributes behind the members belong to the type.
        take(close, self.last_shared(item, close));
        if let Some(declarator) = declarator {
            take(declarator.first, declarator.last);
        }
        digest.absorb(representation);
        let tokens = self.source.token_range(first, close);
        self.add_surroundings(&tokens, &mut digest, &mut mentions);
        entity.digest = digest.finish();
        entity.interface = entity.digest;
        entity.mentions = Names::new(mentions);
    }

    fn declarator(
        &mut self,
        item: &Item,
        declarator: &Declarator,
        is_typedef: bool,
        members: Option<(usize, bool)>,
    ) {
        let kind = match (is_typedef, declarator.is_function) {
            (true, _) => Kind::Type,
            (false, true) => Kind::Function,
            (false, false) => Kind::Variable,
        };
        let whole = self.source.token_range(item.first, item.last);
        let mut entity = self.entity(kind, self.text(declarator.name), &whole);
        let specifiers = match members {
            Some((open, _)) => {
                let last = self.last_shared(item, self.source.closes[open]);
                self.source.token_range(item.first, last)
            }
            None => {
                let last = self.last_shared(item, item.first);
                self.source.token_range(item.first, last)
            }
        };
        let own_tokens = self.source.token_range(declarator.first, declarator.last);
        let mut digest = Digest::new();
        let mut mentions: Vec<Name> = Vec::new();
        for tokens in [specifiers.clone(), own_tokens] {
            self.source.absorb(&mut digest, tokens.clone());
            mentions.extend(self.source.mentions_in(tokens));
        }
        self.add_surroundings(&whole, &mut digest, &mut mentions);
        entity.digest = digest.finish();
        entity.interface = entity.digest;
        entity.mentions = Names::new(mentions);
        if let Some((open, true)) = members {
            self.shorten_enum(&mut entity, item, open, Some(declarator));
        }
        entity.internal = self.has_word(&specifiers, b"static");
        let has_value =
            (declarator.first..=declarator.last).any(|position| self.source.text(position) == b"=");
        entity.declaration =
            declarator.is_function || (self.has_word(&specifiers, b"extern") && !has_value);
        entity.unmentioned = self.acts_unmentioned(&whole);
        if let Some(label) = self.source.label_in(declarator.first, declarator.last) {
            // `int x __asm__("y")`: to the linker it is y.
            let mut other = entity.clone();
            other.name = label;
            self.facts.entities.push(other);
        }
        self.facts.entities.push(entity);
    }

    /// The name is a macro, and not that of a function which some configurations replace by a macro.
    fn is_named_by_macro(&self, declarator: &Declarator) -> bool {
        let name = self.source.name(declarator.name);
        let is_macro = self.macros.get(name).is_some();
        let behind = match declarator.is_function {
            true => self.source.closes[declarator.name + 1],
            false => return self.macros.replaces(name),
        };
        let is_prototype =
            behind != NONE && matches!(self.source.text_or_end(behind + 1), b";" | b",");
        let is_attribute =
            words::is_attribute_call(self.source.text_or_end(behind.saturating_add(1)));
        is_macro && !is_prototype && !is_attribute
    }

    /// The last position of the part that all declarators of a declaration share, at least the given one: where its first word or its members end.
    fn last_shared(&self, item: &Item, specified: usize) -> usize {
        let mut tops = top_level(self.source, self.macros, item.first, item.last);
        tops.retain(|position| specified == item.first || *position > specified);
        let is_typed = specified != item.first;
        let found = declarators(self.source, self.macros, &tops, item.last, is_typed);
        found.first().map_or(item.last, |first| {
            // Stars and brackets before the name belong to it alone; the words before them are shared.
            let mut at = first.name;
            while at > specified && !self.source.is_identifier(at - 1) {
                at -= 1;
            }
            at.saturating_sub(1).max(specified)
        })
    }

    pub(super) fn remainder(&mut self, tokens: Range<usize>) {
        let text: Vec<String> = tokens
            .clone()
            .take(12)
            .map(|index| {
                String::from_utf8_lossy(self.source.tokens[index].text(self.source.bytes))
                    .into_owned()
            })
            .collect();
        let mut entity = self.entity(Kind::File, text.join(" ").trim().to_owned(), &tokens);
        entity.unmentioned = self.acts_unmentioned(&tokens);
        self.facts.entities.push(entity);
    }

    /// Assembler that leaves something behind although nobody executes it.
    fn assembles(&self, tokens: &Range<usize>) -> Option<String> {
        let text = |index: usize| self.source.tokens[index].text(self.source.bytes);
        let word = tokens.clone().find(|index| words::is_asm(text(*index)))?;
        let mut strings = tokens
            .clone()
            .filter(|index| self.source.tokens[*index].kind == TokenKind::String);
        strings
            .any(|index| words::has_assembler_directive(text(index)))
            .then(|| String::from_utf8_lossy(text(word)).into_owned())
    }

    fn has_word(&self, tokens: &Range<usize>, word: &[u8]) -> bool {
        tokens
            .clone()
            .any(|index| self.source.tokens[index].text(self.source.bytes) == word)
    }

    /// An attribute, written out or behind a macro, by which a declaration acts although nothing mentions it.
    fn acts_unmentioned(&self, tokens: &Range<usize>) -> Option<String> {
        let text = |index: usize| {
            let token = self.source.tokens.get(index);
            token.map_or(&b""[..], |token| token.text(self.source.bytes))
        };
        let has_attributes = tokens.clone().any(|index| {
            words::is_attribute_call(text(index)) || text(index) == b"[" && text(index + 1) == b"["
        });
        tokens.clone().find_map(|index| {
            let text = text(index);
            let written = has_attributes && words::acts_unmentioned(text);
            let hidden = self
                .macros
                .get(Name::of(text))
                .is_some_and(|known| known.unmentioned);
            (written || hidden).then(|| String::from_utf8_lossy(text).into_owned())
        })
    }
}
