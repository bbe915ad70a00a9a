//! Affected names: what a changed nonfunction entity reaches through everything that mentions it (design, section 5.2).

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::digest::{Name, Names};
use crate::lang::facts::{Entity, FileFacts, Kind, LexFacts, MacroDefinition};

/// Why a name is affected: a sentence, and the name it came through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub name: String,
    pub because: String,
}

/// The names that mean something else in the head version, growing until nothing mentions a new one.
#[derive(Debug, Default)]
pub struct Affected {
    names: FxHashMap<Name, Cause>,
    /// The names with the pieces from which `##` could build each.
    pieces: Vec<Pieces>,
    fresh: Vec<Name>,
    known: Arc<Macros>,
}

/// What the macros of both trees are to names.
#[derive(Debug, Default)]
struct Macros {
    /// Macros that paste pieces of which nothing is known, and those that use them.
    wild: FxHashSet<Name>,
    /// Macros with a pattern for the names they build.
    pastes: Vec<(String, crate::lang::facts::Paste)>,
    all: FxHashSet<Name>,
    /// For each name, the macros whose replacement mentions it.
    users: FxHashMap<Name, Vec<Name>>,
    /// Of these, the ones that an argument of `##` may be replaced by: object-like, or pasting themselves.
    stand_ins: FxHashMap<Name, Vec<Name>>,
}

impl Macros {
    /// The macros that may stand for a piece of a name, directly or not.
    fn stand_ins_of(&self, piece: Name) -> FxHashSet<Name> {
        let mut found = FxHashSet::default();
        let mut waiting = vec![piece];
        while let Some(name) = waiting.pop() {
            for stand_in in self.stand_ins.get(&name).into_iter().flatten() {
                if found.insert(*stand_in) {
                    waiting.push(*stand_in);
                }
            }
        }
        found
    }

    /// The given names and all macros that mention one of them, directly or not.
    fn users_of(&self, mut waiting: Vec<Name>) -> FxHashSet<Name> {
        let mut found = FxHashSet::default();
        while let Some(name) = waiting.pop() {
            if found.insert(name) {
                waiting.extend(self.users.get(&name).into_iter().flatten());
            }
        }
        found
    }
}

impl Affected {
    /// Learns from all macros of both trees which names `##` can build.
    pub fn new<'a>(definitions: impl IntoIterator<Item = &'a MacroDefinition>) -> Self {
        let mut known = Macros::default();
        let mut waiting = Vec::new();
        for definition in definitions {
            let name = Name::of(definition.name.as_bytes());
            known.all.insert(name);
            for paste in &definition.pastes {
                if paste.is_wild() {
                    waiting.push(name);
                } else {
                    known.pastes.push((definition.name.clone(), paste.clone()));
                }
            }
            for mentioned in definition.mentions.iter() {
                known.users.entry(mentioned).or_default().push(name);
                let is_word = !definition.function_like && definition.mentions.len() == 1;
                if is_word || !definition.pastes.is_empty() {
                    known.stand_ins.entry(mentioned).or_default().push(name);
                }
            }
        }
        known.wild = known.users_of(waiting);
        Affected {
            known: Arc::new(known),
            ..Affected::default()
        }
    }

    /// No names yet, but the same macros.
    #[must_use]
    pub fn another(&self) -> Self {
        Affected {
            known: self.known.clone(),
            ..Affected::default()
        }
    }

    /// The macros whose replacement uses one of these local names where they are expanded.
    #[must_use]
    pub fn capturing(&self, locals: &[Name]) -> FxHashSet<Name> {
        let mut found = self.known.users_of(locals.to_vec());
        found.retain(|name| self.known.all.contains(name));
        found
    }

    /// Adds a name, and the macros that could build it by pasting.
    pub fn add(&mut self, name: &str, because: impl Into<String>) {
        let hash = Name::of(name.as_bytes());
        self.add_hash(hash, name, because.into());
        if !self.known.wild.is_empty() {
            self.pieces.push(Pieces::of(name.as_bytes(), &self.known));
        }
        let builders: Vec<String> = self
            .known
            .pastes
            .iter()
            .filter(|(builder, paste)| builder != name && paste.could_build(name))
            .map(|(builder, _)| builder.clone())
            .collect();
        for builder in builders {
            let hash = Name::of(builder.as_bytes());
            if !self.names.contains_key(&hash) {
                self.add(&builder, format!("it may build '{name}' by pasting"));
            }
        }
    }

    /// Adds a name that is no identifier, for instance an included file.
    pub fn add_hash(&mut self, hash: Name, name: &str, because: String) {
        if !self.names.contains_key(&hash) {
            let name = name.to_owned();
            let cause = Cause { name, because };
            // A macro takes the place of members and local names, too.
            if self.known.all.contains(&hash) {
                self.names.insert(hash.weak(), cause.clone());
            }
            self.names.insert(hash, cause);
            self.fresh.push(hash);
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Takes over all that is affected elsewhere.
    pub fn join(&mut self, other: &Affected) {
        for (name, cause) in &other.names {
            self.names.entry(*name).or_insert_with(|| cause.clone());
        }
        self.pieces.extend(other.pieces.iter().cloned());
    }

    #[must_use]
    pub fn contains(&self, name: Name) -> bool {
        self.names.contains_key(&name)
    }

    /// The affected name that a set of mentions contains or could build.
    #[must_use]
    pub fn hit(&self, mentions: &Names) -> Option<Name> {
        if self.names.is_empty() {
            return None;
        }
        let direct = if mentions.len() <= self.names.len() {
            mentions.iter().find(|name| self.names.contains_key(name))
        } else {
            self.names
                .keys()
                .copied()
                .filter(|name| mentions.contains(*name))
                .min()
        };
        direct.or_else(|| {
            let pastes = mentions
                .iter()
                .find(|name| self.known.wild.contains(name))?;
            self.pieces
                .iter()
                .any(|pieces| pieces.are_in(mentions))
                .then_some(pastes)
        })
    }

    /// Why a name that was hit is affected.
    #[must_use]
    pub fn cause(&self, name: Name) -> Cause {
        self.names.get(&name).cloned().unwrap_or_else(|| Cause {
            name: "##".to_owned(),
            because: "it may build an affected name by pasting".to_owned(),
        })
    }

    /// Whether a file mentions a name that was added since the last call of [`Affected::settle`].
    #[must_use]
    pub fn concerns(&self, file: &LexFacts) -> bool {
        self.fresh.iter().any(|name| file.names.contains(*name))
            || (!self.fresh.is_empty()
                && self
                    .hit(&file.names)
                    .is_some_and(|name| !self.names.contains_key(&name)))
    }

    /// Takes the names added so far as known.
    pub fn settle(&mut self) -> bool {
        !std::mem::take(&mut self.fresh).is_empty()
    }

    /// Passes on what the entities of a file mention: through nonfunctions and through signatures.
    pub fn spread(&mut self, facts: &FileFacts) {
        for entity in &facts.entities {
            if entity.kind == Kind::File {
                continue;
            }
            if let Some(name) = self.hit(&entity.mentions)
                && !self.names.contains_key(&Name::of(entity.name.as_bytes()))
            {
                let cause = self.cause(name);
                self.add(&entity.name, passed_on(entity, &cause));
            }
        }
    }

    /// All affected names with their causes, by name.
    #[must_use]
    pub fn causes(&self) -> BTreeMap<&str, &str> {
        self.names
            .values()
            .map(|cause| (cause.name.as_str(), cause.because.as_str()))
            .collect()
    }
}

/// The ways to cut a name in two, as hashes: what it begins with and what it ends in.
#[derive(Debug, Clone)]
struct Pieces {
    length: usize,
    /// Both by length, the shortest first.
    beginnings: Vec<Name>,
    endings: Vec<Name>,
    /// Macros that may stand for a piece, with the length of the shortest.
    hidden_beginnings: Vec<(Name, usize)>,
    hidden_endings: Vec<(Name, usize)>,
    /// A number is no name, but may be pasted to the end of one.
    ends_in_digit: bool,
}

impl Pieces {
    fn of(name: &[u8], macros: &Macros) -> Self {
        let lengths = 1..name.len();
        let beginnings: Vec<Name> = lengths.clone().map(|at| Name::of(&name[..at])).collect();
        let endings: Vec<Name> = lengths
            .map(|at| Name::of(&name[name.len() - at..]))
            .collect();
        let hidden = |pieces: &[Name]| {
            let mut found: FxHashMap<Name, usize> = FxHashMap::default();
            for (at, piece) in pieces.iter().enumerate() {
                for stand_in in macros.stand_ins_of(*piece) {
                    found.entry(stand_in).or_insert(at + 1);
                }
            }
            found.into_iter().collect()
        };
        Pieces {
            length: name.len(),
            hidden_beginnings: hidden(&beginnings),
            hidden_endings: hidden(&endings),
            beginnings,
            endings,
            ends_in_digit: name.last().is_some_and(u8::is_ascii_digit),
        }
    }

    /// Whether two mentioned names could be the first and the last piece.
    fn are_in(&self, mentions: &Names) -> bool {
        let shortest = |pieces: &[Name], hidden: &[(Name, usize)]| {
            // An argument of `##` may happen to be a local name, too.
            let direct = pieces
                .iter()
                .position(|piece| mentions.contains(*piece) || mentions.contains(piece.weak()));
            hidden
                .iter()
                .filter(|(name, _)| mentions.contains(*name))
                .map(|(_, length)| *length)
                .chain(direct.map(|at| at + 1))
                .min()
        };
        let Some(first) = shortest(&self.beginnings, &self.hidden_beginnings) else {
            return false;
        };
        self.ends_in_digit
            || shortest(&self.endings, &self.hidden_endings)
                .is_some_and(|last| first + last <= self.length)
    }
}

fn passed_on(entity: &Entity, cause: &Cause) -> String {
    let how = match entity.kind {
        Kind::Function => "its signature mentions",
        _ => "it mentions",
    };
    format!("{how} '{}': {}", cause.name, cause.because)
}
