//! Preprocessor conditionals: which tokens stand under which `#if`, and which branches a parser can be shown.

use std::ops::Range;

use crate::digest::{Digest, Name};
use crate::lang::c::lexer::{Token, TokenKind};
use crate::lang::c::words;

/// What becomes of a token when the file's structure is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Live,
    /// Part of a directive.
    Directive,
    /// In a branch that no C compiler reads (`#if 0`, `#ifdef __cplusplus`): as good as a comment.
    Dead,
    /// In a second branch of a conditional that splits a construct: it counts for digests, but the first branch alone
    /// gives the structure.
    Extra,
}

/// The conditions around a token; chain 0 has none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chain {
    /// Over all conditions from the outermost on.
    pub(crate) digest: u64,
    /// The names in the innermost conditions.
    mentions: Vec<Name>,
    outer: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Branch {
    /// Token indices of the directive that opens the branch, its end included.
    pub(crate) directive: Range<usize>,
    pub(crate) body: Range<usize>,
    pub(crate) dead: bool,
}

/// One `#if` ... `#endif`.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) branches: Vec<Branch>,
    /// The index behind the last token of `#endif`.
    pub(crate) end: usize,
    /// The branches do not hold whole constructs.
    pub(crate) splits: bool,
}

impl Group {
    pub(crate) fn start(&self) -> usize {
        self.branches
            .first()
            .map_or(self.end, |branch| branch.directive.start)
    }
}

/// Any directive, by its token indices (the end included) and its word.
#[derive(Debug, Clone)]
pub(crate) struct Directive {
    pub(crate) tokens: Range<usize>,
    pub(crate) word: String,
}

#[derive(Debug, Default)]
pub(crate) struct Conditionals {
    pub(crate) states: Vec<State>,
    pub(crate) chain_of: Vec<u32>,
    pub(crate) chains: Vec<Chain>,
    pub(crate) groups: Vec<Group>,
    /// Everything but the conditionals themselves.
    pub(crate) directives: Vec<Directive>,
    /// Index of the `#ifndef` that guards the file against a second inclusion.
    pub(crate) guard: Option<usize>,
}

impl Conditionals {
    /// The conditions around a token.
    pub(crate) fn around(&self, token: usize) -> &Chain {
        &self.chains[self.chain_of[token] as usize]
    }

    /// The names in all conditions around a token.
    pub(crate) fn names_around(&self, token: usize) -> Vec<Name> {
        let mut names = Vec::new();
        let mut chain = self.chain_of[token];
        while chain != 0 {
            names.extend(&self.chains[chain as usize].mentions);
            chain = self.chains[chain as usize].outer;
        }
        // Conditions nest and repeat; each name is kept once.
        names.sort_unstable();
        names.dedup();
        names
    }
}

struct Open {
    group: Group,
    outer_chain: u32,
    /// The conditions of the branches so far: a later branch depends on all of them.
    digest: Digest,
    mentions: Vec<Name>,
    guard: bool,
    /// An earlier branch is certainly taken.
    decided: bool,
}

/// Finds the conditionals of a file.
pub(crate) fn conditionals(source: &[u8], tokens: &[Token]) -> Conditionals {
    let mut result = Conditionals {
        states: vec![State::Live; tokens.len()],
        chain_of: vec![0; tokens.len()],
        chains: vec![Chain::default()],
        ..Conditionals::default()
    };
    let guard = include_guard(source, tokens);
    result.guard = guard;
    let mut open: Vec<Open> = Vec::new();
    let mut chain = 0u32;
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].kind != TokenKind::Directive {
            result.chain_of[at] = chain;
            at += 1;
            continue;
        }
        let end = tokens[at..]
            .iter()
            .position(|token| token.kind == TokenKind::DirectiveEnd)
            .map_or(tokens.len(), |offset| at + offset + 1);
        for index in at..end {
            result.states[index] = State::Directive;
            result.chain_of[index] = chain;
        }
        let directive = at..end;
        let word = tokens
            .get(at + 1)
            .filter(|_| at + 1 < end)
            .map_or(&b""[..], |token| token.text(source));
        match word {
            b"if" | b"ifdef" | b"ifndef" => {
                let mut group = Open {
                    group: Group {
                        branches: Vec::new(),
                        end: tokens.len(),
                        splits: false,
                    },
                    outer_chain: chain,
                    digest: Digest::new(),
                    mentions: Vec::new(),
                    guard: guard == Some(at),
                    decided: false,
                };
                chain = group.branch(source, tokens, directive, &mut result.chains);
                open.push(group);
            }
            b"elif" | b"elifdef" | b"elifndef" | b"else" => {
                if let Some(group) = open.last_mut() {
                    chain = group.branch(source, tokens, directive, &mut result.chains);
                }
            }
            b"endif" => {
                if let Some(group) = open.pop() {
                    chain = group.outer_chain;
                    close(source, tokens, group, at, end, &mut result);
                }
            }
            word => result.directives.push(Directive {
                tokens: directive,
                word: String::from_utf8_lossy(word).into_owned(),
            }),
        }
        at = end;
    }
    while let Some(group) = open.pop() {
        close(
            source,
            tokens,
            group,
            tokens.len(),
            tokens.len(),
            &mut result,
        );
    }
    result.groups.sort_by_key(Group::start);
    result
}

impl Open {
    /// Begins the next branch; the answer is the chain of its tokens.
    fn branch(
        &mut self,
        source: &[u8],
        tokens: &[Token],
        directive: Range<usize>,
        chains: &mut Vec<Chain>,
    ) -> u32 {
        if let Some(previous) = self.group.branches.last_mut() {
            previous.body.end = directive.start;
        }
        let condition = &tokens[directive.start + 1..directive.end];
        let dead = self.is_dead(source, condition);
        self.mentions.extend(sought_files(source, condition));
        for token in condition {
            self.digest.absorb(token.hash(source));
            if token.kind == TokenKind::Identifier
                && !words::is_control(token.text(source))
                && !matches!(
                    token.text(source),
                    b"defined" | b"ifdef" | b"ifndef" | b"elif" | b"elifdef" | b"elifndef"
                )
            {
                self.mentions.push(Name::of(token.text(source)));
            }
        }
        self.group.branches.push(Branch {
            body: directive.end..directive.end,
            directive,
            dead,
        });
        if self.guard {
            return self.outer_chain;
        }
        let outer = &chains[self.outer_chain as usize];
        let mut digest = Digest::new();
        digest.absorb(outer.digest);
        digest.absorb(self.digest.finish());
        chains.push(Chain {
            digest: digest.finish(),
            mentions: self.mentions.clone(),
            outer: self.outer_chain,
        });
        (chains.len() - 1) as u32
    }

    /// Whether no C compiler reads the branch; notes when no later branch can be read either.
    fn is_dead(&mut self, source: &[u8], condition: &[Token]) -> bool {
        let texts: Vec<&[u8]> = condition
            .iter()
            .filter(|token| token.kind != TokenKind::DirectiveEnd)
            .map(|token| token.text(source))
            .collect();
        let dead = self.decided
            || matches!(
                texts.as_slice(),
                [b"if" | b"elif", b"0"]
                    | [b"ifdef", b"__cplusplus"]
                    | [b"if", b"defined", b"__cplusplus"]
                    | [b"if", b"defined", b"(", b"__cplusplus", b")"]
            );
        self.decided |= matches!(
            texts.as_slice(),
            [b"if" | b"elif", b"1"] | [b"ifndef", b"__cplusplus"]
        );
        dead
    }
}

/// The files for which `__has_include` looks among some tokens.
pub(crate) fn sought_files<'a>(
    source: &'a [u8],
    tokens: &'a [Token],
) -> impl Iterator<Item = Name> + 'a {
    tokens
        .windows(3)
        .enumerate()
        .filter_map(move |(at, three)| {
            if !matches!(
                three[0].text(source),
                b"__has_include" | b"__has_include_next"
            ) {
                return None;
            }
            let first = &three[2];
            let path = match first.text(source) {
                [b'"', path @ .., b'"'] => path,
                b"<" => {
                    let close = tokens[at..].iter().find(|token| token.is(source, ">"))?;
                    &source[first.end as usize..close.start as usize]
                }
                _ => return None,
            };
            Some(Name::of_included(path))
        })
}

/// Ends a group and settles which of its tokens count for the structure.
fn close(
    source: &[u8],
    tokens: &[Token],
    open: Open,
    endif: usize,
    end: usize,
    result: &mut Conditionals,
) {
    let mut group = open.group;
    group.end = end;
    if let Some(last) = group.branches.last_mut() {
        last.body.end = endif;
    }
    for branch in group.branches.iter().filter(|branch| branch.dead) {
        result.states[branch.body.clone()].fill(State::Dead);
    }
    group.splits = group
        .branches
        .iter()
        .any(|branch| !branch.dead && !is_balanced(source, tokens, &result.states, &branch.body));
    if group.splits {
        show_first_branch_only(&group, &mut result.states);
    }
    result.groups.push(group);
}

/// Takes all but the first live branch out of the structure.
pub(crate) fn show_first_branch_only(group: &Group, states: &mut [State]) {
    let live = group.branches.iter().filter(|branch| !branch.dead);
    for branch in live.skip(1) {
        for state in &mut states[branch.body.clone()] {
            if *state == State::Live {
                *state = State::Extra;
            }
        }
    }
}

/// Every bracket of the branch is closed in it, and none is closed that it did not open.
fn is_balanced(source: &[u8], tokens: &[Token], states: &[State], body: &Range<usize>) -> bool {
    let mut open = Vec::new();
    for index in body.clone() {
        if states[index] != State::Live || tokens[index].kind != TokenKind::Punctuator {
            continue;
        }
        match tokens[index].text(source) {
            b"(" => open.push(b')'),
            b"{" => open.push(b'}'),
            b"[" => open.push(b']'),
            close @ (b")" | b"}" | b"]") if open.pop() != Some(close[0]) => {
                return false;
            }
            _ => {}
        }
    }
    open.is_empty()
}

/// The index of the `#ifndef` that guards the whole file against a second inclusion.
fn include_guard(source: &[u8], tokens: &[Token]) -> Option<usize> {
    let [hash, ifndef, name, end, hash_2, define, name_2, ..] = tokens else {
        return None;
    };
    let guards = hash.kind == TokenKind::Directive
        && ifndef.is(source, "ifndef")
        && end.kind == TokenKind::DirectiveEnd
        && hash_2.kind == TokenKind::Directive
        && define.is(source, "define")
        && name.text(source) == name_2.text(source);
    if !guards {
        return None;
    }
    let mut depth = 0usize;
    let mut words = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.kind == TokenKind::Directive);
    let last = words.by_ref().find_map(|(index, _)| {
        let word = tokens
            .get(index + 1)
            .map_or(&b""[..], |token| token.text(source));
        match word {
            b"if" | b"ifdef" | b"ifndef" => depth += 1,
            b"elif" | b"else" if depth == 1 => return Some(None),
            b"endif" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(Some(index));
                }
            }
            _ => {}
        }
        None
    })??;
    let behind = tokens[last..]
        .iter()
        .position(|token| token.kind == TokenKind::DirectiveEnd)?;
    (last + behind + 1 == tokens.len()).then_some(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::c::lexer::lex;

    fn read(source: &str) -> (Vec<Token>, Conditionals) {
        let tokens = lex(source.as_bytes());
        let found = conditionals(source.as_bytes(), &tokens);
        (tokens, found)
    }

    fn in_state(source: &str, state: State) -> Vec<String> {
        let (tokens, found) = read(source);
        tokens
            .iter()
            .zip(&found.states)
            .filter(|(_, other)| **other == state)
            .map(|(token, _)| String::from_utf8_lossy(token.text(source.as_bytes())).into_owned())
            .collect()
    }

    #[test]
    fn both_branches_of_whole_constructs_are_live() {
        let source = "#ifdef A\nint a;\n#else\nint b;\n#endif\n";
        assert_eq!(
            in_state(source, State::Live),
            ["int", "a", ";", "int", "b", ";"]
        );
    }

    #[test]
    fn only_the_first_branch_of_a_split_construct_is_live() {
        let source = "#ifdef A\nint f(int a) {\n#else\nint f(void) {\n#endif\n}\n";
        let (_, found) = read(source);
        assert!(found.groups[0].splits);
        assert_eq!(
            in_state(source, State::Extra),
            ["int", "f", "(", "void", ")", "{"]
        );
    }

    #[test]
    fn code_for_another_language_is_dead() {
        let source = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint a;\n#if 0\nint b;\n#endif\n";
        assert_eq!(in_state(source, State::Live), ["int", "a", ";"]);
    }

    #[test]
    fn what_follows_a_true_branch_is_dead() {
        let source = "#if 1\na\n#else\nb\n#endif\n";
        assert_eq!(in_state(source, State::Dead), ["b"]);
    }

    #[test]
    fn an_include_guard_is_no_condition() {
        let (_, found) = read("#ifndef H\n#define H\n#ifdef A\nint a;\n#endif\nint b;\n#endif\n");
        assert_eq!(found.chain_of.iter().max(), Some(&1));
        let (_, found) = read("#ifndef H\n#define H\nint b;\n#endif\nint c;\n");
        assert_eq!(found.chains.len(), 2);
    }

    #[test]
    fn a_later_branch_depends_on_the_conditions_before_it() {
        let (_, found) = read("#ifdef A\na\n#elif B\nb\n#endif\n");
        let mut expected = [Name::of(b"A"), Name::of(b"B")];
        expected.sort_unstable();
        let last = found.chain_of.iter().position(|chain| *chain == 2);
        assert_eq!(
            found.names_around(last.expect("it stands under the second condition")),
            expected
        );
    }

    #[test]
    fn stray_directives_are_survived() {
        let (_, found) = read("#endif\n#else\n#elif\n#if A\nx\n");
        assert_eq!(found.groups.len(), 1);
    }
}
