//! Where brackets belong together and what stands in them: what a mutator must know beyond tokens.

use std::ops::Range;

use crate::tokens::{Class, Part, Token};

/// What a pair of braces holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Braces {
    Statements,
    Initialiser,
    Members,
    Enumerators,
}

pub(crate) struct Structure {
    /// The partner of each bracket.
    pub(crate) partner: Vec<Option<usize>>,
    /// The innermost braces around each token, by their opening token.
    pub(crate) inside: Vec<Option<(usize, Braces)>>,
}

impl Structure {
    pub(crate) fn of(tokens: &[Token<'_>]) -> Self {
        let mut structure = Structure {
            partner: vec![None; tokens.len()],
            inside: vec![None; tokens.len()],
        };
        let mut open: Vec<usize> = Vec::new();
        let mut braces: Vec<(usize, Braces)> = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            structure.inside[index] = braces.last().copied();
            // The brackets of a directive are balanced in themselves, or else they are not looked at.
            if token.class != Class::Sign || token.part == Part::Directive {
                continue;
            }
            match token.text {
                "(" | "[" | "{" => {
                    open.push(index);
                    if token.text == "{" {
                        braces.push((index, kind_of(tokens, index, braces.last())));
                    }
                }
                ")" | "]" | "}" => {
                    let Some(first) = open.pop() else { continue };
                    structure.partner[first] = Some(index);
                    structure.partner[index] = Some(first);
                    if token.text == "}" {
                        braces.pop();
                        structure.inside[index] = braces.last().copied();
                    }
                }
                _ => {}
            }
        }
        structure
    }

    /// Splits what stands between two brackets at its own commas or semicolons.
    pub(crate) fn split(
        &self,
        tokens: &[Token<'_>],
        between: Range<usize>,
        at: &str,
    ) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut start = between.start;
        let mut index = between.start;
        while index < between.end {
            if tokens[index].text == at {
                parts.push(start..index);
                start = index + 1;
            }
            let behind = self.partner[index].filter(|partner| *partner > index);
            index = behind.unwrap_or(index) + 1;
        }
        parts.push(start..between.end);
        parts.retain(|part| !part.is_empty());
        parts
    }
}

fn kind_of(tokens: &[Token<'_>], open: usize, around: Option<&(usize, Braces)>) -> Braces {
    let before = |back: usize| {
        open.checked_sub(back)
            .map_or("", |index| tokens[index].text)
    };
    let is_enum = [1, 2].iter().any(|back| before(*back) == "enum");
    let is_record = [1, 2]
        .iter()
        .any(|back| matches!(before(*back), "struct" | "union"));
    let is_part = around.is_some_and(|(_, braces)| *braces == Braces::Initialiser);
    if is_enum {
        Braces::Enumerators
    } else if is_record {
        Braces::Members
    } else if before(1) == "=" || is_part {
        Braces::Initialiser
    } else {
        Braces::Statements
    }
}
