//! What nothing mentions: entities that cannot be reached by name from anything that is used (CIA's `deadobj`).
//!
//! Doubt keeps an entity alive: a word in a build file, a string, a name that `##` may build, a header that others may include.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::pasting::Pasting;
use crate::difference::is_library_name;
use crate::digest::{Name, Names};
use crate::lang::facts::{Entity, FileFacts, Kind, LexFacts};
use crate::repo::RepoPath;

/// What is called from outside of the tree.
const ENTRIES: [&str; 10] = [
    "main",
    "wmain",
    "WinMain",
    "wWinMain",
    "DllMain",
    "_start",
    "_init",
    "_fini",
    "LLVMFuzzerTestOneInput",
    "LLVMFuzzerInitialize",
];

/// What the names begin with that interpreters look up in their modules.
const MODULE_ENTRIES: [&str; 4] = ["PyInit_", "Java_", "JNI_", "luaopen_"];

/// One file, as the lexer and as the parser see it.
pub struct Read<'a> {
    pub path: &'a RepoPath,
    pub lex: &'a LexFacts,
    pub facts: &'a Arc<FileFacts>,
}

/// What keeps entities alive beside the C sources.
#[derive(Debug, Default)]
pub struct Outside {
    /// Words of files that are not C: build files, assembler, scripts, lists of symbols.
    pub words: FxHashSet<Name>,
    /// What headers declare or define is for others, too.
    pub headers_are_used: bool,
}

/// An entity that nothing uses.
#[derive(Debug, PartialEq, Eq)]
pub struct Dead<'a> {
    pub file: &'a RepoPath,
    pub entity: &'a Entity,
    /// Other entities mention it, but these are dead themselves.
    pub is_mentioned: bool,
}

/// The definitions that nothing alive mentions, file by file.
#[must_use]
pub fn dead<'a>(files: &'a [Read<'a>], outside: &Outside) -> Vec<Dead<'a>> {
    let macros = files.iter().flat_map(|file| &file.lex.macros);
    let mut alive = Alive::new(files, Pasting::new(macros));
    alive.begin(files, outside);
    alive.follow();
    // What a macro may build is as good as mentioned, and so is what that mentions.
    loop {
        let built: Vec<Name> = candidates(files)
            .filter(|(_, entity)| !alive.has(entity) && alive.pasting.may_build(&entity.name))
            .map(|(_, entity)| Name::of(entity.name.as_bytes()))
            .collect();
        if built.is_empty() {
            break;
        }
        built.into_iter().for_each(|name| alive.name(name));
        alive.follow();
    }
    let used = used_types(files, &alive);
    let mut found: Vec<Dead<'a>> = candidates(files)
        .filter(|(_, entity)| !alive.has(entity))
        .filter(|(file, entity)| {
            let mut types = used.get(file).into_iter().flatten();
            !types.any(|span| is_in(entity, *span))
        })
        .map(|(file, entity)| Dead {
            file,
            entity,
            is_mentioned: false,
        })
        .collect();
    let mentioned = mentioned_by_others(&found);
    for (one, is_mentioned) in found.iter_mut().zip(mentioned) {
        one.is_mentioned = is_mentioned;
    }
    found
}

/// Definitions whose names are written in the source.
fn candidates<'a>(files: &'a [Read<'a>]) -> impl Iterator<Item = (&'a RepoPath, &'a Entity)> {
    files.iter().flat_map(|file| {
        let own = file.facts.entities.iter().filter(|one| is_candidate(one));
        own.map(|entity| (file.path, entity))
    })
}

fn is_candidate(entity: &Entity) -> bool {
    let is_defined = !entity.declaration && entity.kind != Kind::File;
    is_defined && is_word(&entity.name) && !entity.is_guard()
}

/// What macros make has another name than the source says.
fn is_word(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    !name.is_empty() && name.chars().all(is_letter)
}

/// Types of which something is used, by file: neither another name for one nor an enumerator in it is dead alone.
fn used_types<'a>(
    files: &'a [Read<'a>],
    alive: &Alive<'_>,
) -> FxHashMap<&'a RepoPath, Vec<(u32, u32)>> {
    let of_file = |file: &'a Read<'a>| {
        let own: Vec<&Entity> = file
            .facts
            .entities
            .iter()
            .filter(|one| is_candidate(one))
            .collect();
        let types = own.iter().filter(|entity| entity.kind == Kind::Type);
        let spans = types.map(|entity| (entity.span.start, entity.span.end));
        let is_used = |span: &(u32, u32)| {
            let mut inside = own.iter().filter(|entity| is_in(entity, *span));
            inside.any(|entity| alive.has(entity))
        };
        (file.path, spans.filter(is_used).collect())
    };
    files.iter().map(of_file).collect()
}

fn is_in(entity: &Entity, (start, end): (u32, u32)) -> bool {
    start <= entity.span.start && entity.span.end <= end
}

fn mentioned_by_others(found: &[Dead<'_>]) -> Vec<bool> {
    let mut by_name: FxHashMap<Name, Vec<usize>> = FxHashMap::default();
    for (place, one) in found.iter().enumerate() {
        for name in mentions_of(one.entity) {
            by_name.entry(name).or_default().push(place);
        }
    }
    let is_mentioned = |(place, one): (usize, &Dead<'_>)| {
        let name = Name::of(one.entity.name.as_bytes());
        let mentioning = by_name.get(&name).into_iter().flatten();
        let mut others = mentioning
            .filter(|other| **other != place && found[**other].entity.name != one.entity.name);
        others.next().is_some()
    };
    found.iter().enumerate().map(is_mentioned).collect()
}

fn mentions_of(entity: &Entity) -> impl Iterator<Item = Name> + '_ {
    let body = entity.body.iter().flat_map(|body| body.mentions.iter());
    entity.mentions.iter().chain(body)
}

/// The names that are used, and what they lead to.
struct Alive<'a> {
    names: FxHashSet<Name>,
    waiting: Vec<Name>,
    by_name: FxHashMap<Name, Vec<&'a Entity>>,
    pasting: Pasting,
}

impl<'a> Alive<'a> {
    fn new(files: &'a [Read<'a>], pasting: Pasting) -> Self {
        let mut by_name: FxHashMap<Name, Vec<&Entity>> = FxHashMap::default();
        for entity in files.iter().flat_map(|file| &file.facts.entities) {
            for form in forms(entity) {
                by_name.entry(form).or_default().push(entity);
            }
        }
        Alive {
            names: FxHashSet::default(),
            waiting: Vec::new(),
            by_name,
            pasting,
        }
    }

    /// What is used whatever else is.
    fn begin(&mut self, files: &[Read<'_>], outside: &Outside) {
        let entries = ENTRIES.iter().map(|name| Name::of(name.as_bytes()));
        let roots: Vec<Name> = outside.words.iter().copied().chain(entries).collect();
        roots.into_iter().for_each(|name| self.name(name));
        for file in files {
            let mut explained: FxHashSet<Name> = FxHashSet::default();
            let is_header = outside.headers_are_used && is_header(file.path);
            for entity in &file.facts.entities {
                explained.insert(Name::of(entity.name.as_bytes()));
                explained.extend(mentions_of(entity));
                let body = entity.body.as_ref();
                let acts = entity.unmentioned.is_some()
                    || body.is_some_and(|body| body.unmentioned.is_some())
                    || takes_a_place(entity)
                    || !is_word(&entity.name);
                if entity.kind == Kind::File || acts {
                    self.mention(entity);
                }
                if acts || is_header {
                    self.name(Name::of(entity.name.as_bytes()));
                }
            }
            for include in &file.facts.includes {
                include.conditions.iter().for_each(|name| self.name(name));
            }
            // A name that no entity speaks for stands in a condition, or in something that was not understood.
            let others = file.lex.names.iter();
            for name in others.filter(|name| !explained.contains(name)) {
                self.name(name);
            }
        }
    }

    fn name(&mut self, name: Name) {
        if self.names.insert(name) {
            self.waiting.push(name);
        }
    }

    fn mention(&mut self, entity: &Entity) {
        self.pasting.note(&entity.mentions);
        let body: Option<&Names> = entity.body.as_ref().map(|body| &body.mentions);
        body.into_iter().for_each(|names| self.pasting.note(names));
        let all: Vec<Name> = mentions_of(entity).collect();
        all.into_iter().for_each(|name| self.name(name));
    }

    fn follow(&mut self) {
        while let Some(name) = self.waiting.pop() {
            for entity in self.by_name.remove(&name).unwrap_or_default() {
                self.mention(entity);
            }
        }
    }

    fn has(&self, entity: &Entity) -> bool {
        forms(entity).any(|form| self.names.contains(&form))
    }
}

/// The ways in which an entity can be mentioned. Where only a macro can be meant, nothing else is.
fn forms(entity: &Entity) -> impl Iterator<Item = Name> {
    let name = Name::of(entity.name.as_bytes());
    let weak = (entity.kind == Kind::Macro).then(|| name.weak());
    let tag = (entity.kind == Kind::Type).then(|| name.tag());
    // Strings are for those who look symbols up.
    let is_symbol = matches!(entity.kind, Kind::Function | Kind::Variable) && !entity.internal;
    let quoted = is_symbol.then(|| name.quoted());
    [Some(name), weak, tag, quoted].into_iter().flatten()
}

/// A library or an interpreter calls it.
fn takes_a_place(entity: &Entity) -> bool {
    let is_external = entity.kind == Kind::Function && !entity.internal;
    let begins = |beginning: &&str| entity.name.starts_with(beginning);
    is_external && (is_library_name(&entity.name) || MODULE_ENTRIES.iter().any(begins))
}

fn is_header(path: &RepoPath) -> bool {
    let name = path.file_name();
    let dot = name.iter().rposition(|byte| *byte == b'.');
    let extension = dot.map_or(&[][..], |dot| &name[dot + 1..]);
    matches!(extension, b"h" | b"H" | b"hh" | b"hpp" | b"hxx" | b"in")
}

/// The words of a text, as names.
pub fn words(text: &[u8]) -> impl Iterator<Item = Name> + '_ {
    let is_word =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii();
    let words = text.split(move |byte| !is_word(byte));
    words.filter(|word| !word.is_empty()).map(Name::of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::c::macros::MacroTable;
    use crate::lang::c::{Granularity, file_facts, lex_facts};

    fn names(files: &[(&str, &str)], outside: &Outside) -> Vec<String> {
        let read: Vec<(RepoPath, LexFacts, Arc<FileFacts>)> = files
            .iter()
            .map(|(path, text)| {
                let lex = lex_facts(text.as_bytes());
                let macros = MacroTable::learn(&lex.macros);
                let facts = file_facts(text.as_bytes(), &macros, Granularity::Expression);
                (RepoPath::new(path.as_bytes()), lex, Arc::new(facts))
            })
            .collect();
        let files: Vec<Read<'_>> = read
            .iter()
            .map(|(path, lex, facts)| Read { path, lex, facts })
            .collect();
        let found = dead(&files, outside);
        let told = found.iter().map(|one| {
            let more = if one.is_mentioned { "*" } else { "" };
            format!("{}{more}", one.entity.name)
        });
        told.collect()
    }

    fn outside() -> Outside {
        Outside {
            words: words(b"ADD_TEST(from_cmake)").collect(),
            headers_are_used: true,
        }
    }

    #[test]
    fn what_main_reaches_is_alive_and_the_rest_is_not() {
        let text = "#define USED 1\n#define UNUSED 2\nstatic int table[] = { USED };\nstatic int other;\n\
            static int f(void) { return table[0]; }\nstatic int g(void) { return h(); }\nint h(void) { return 1; }\n\
            int main(void) { return f(); }\n";
        let found = names(&[("a.c", text)], &outside());
        assert_eq!(found, ["UNUSED", "other", "g", "h*"]);
    }

    #[test]
    fn a_function_that_only_calls_itself_is_dead() {
        let text =
            "static int f(int n) { return n ? f(n - 1) : 0; }\nint main(void) { return 0; }\n";
        assert_eq!(names(&[("a.c", text)], &outside()), ["f"]);
    }

    #[test]
    fn doubt_keeps_alive() {
        let text = "#define CAT(a, b) a##b\n__attribute__((constructor)) static void early(void) { }\n\
            void *malloc(unsigned long n) { return 0; }\nvoid *PyInit_it(void) { return 0; }\nvoid from_cmake(void) { }\nvoid by_name(void) { }\n\
            static int pre_fix;\n#define CONDITION\n#ifdef CONDITION\nstatic int used;\n#endif\n\
            #define MAKE(a, b) void a##b(void)\nMAKE(made, x) { helper(); }\nstatic void helper(void) { }\n\
            int main(void) { look_up(\"by_name\"); return CAT(pre_, fix) + used; }\n";
        assert_eq!(names(&[("a.c", text)], &outside()), [""; 0]);
    }

    #[test]
    fn headers_are_for_others_unless_they_are_not() {
        let header = "#ifndef A_H\n#define A_H\n#define LIMIT 3\nint api(void);\n#endif\n";
        let text =
            "#include \"a.h\"\nint api(void) { return 1; }\nint hidden(void) { return 1; }\n";
        let files = [("a.c", text), ("a.h", header)];
        assert_eq!(names(&files, &outside()), ["hidden"]);
        let own = Outside::default();
        assert_eq!(names(&files, &own), ["api", "hidden", "LIMIT"]);
    }

    #[test]
    fn an_enumerator_of_a_type_that_is_used_is_not_dead_alone() {
        let text = "enum colour { RED, GREEN };\nenum lost { ONE, TWO };\ntypedef struct pair { int x; } pair_t;\n\
            int main(void) { pair_t it = { RED }; return it.x; }\n";
        let found = names(&[("a.c", text)], &outside());
        assert!(!found.contains(&"GREEN".to_owned()), "{found:?}");
        assert!(!found.contains(&"pair".to_owned()), "{found:?}");
        assert!(found.contains(&"lost".to_owned()), "{found:?}");
    }
}
