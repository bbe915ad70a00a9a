//! `git rts dead`: entities that nothing mentions.

use std::fmt::Write as _;

use clap::Args;

use crate::commands::history::open;
use crate::commands::needs_c;
use crate::commands::output::{Format, print, print_json};
use crate::commands::patterns::{check, of_entities};
use crate::config::Config;
use crate::difference::SameVersion;
use crate::emit::plan_text::count;
use crate::error::Result;
use crate::query::dead::{Dead, Outside, Read, dead};
use crate::query::pattern::Pattern;
use crate::query::{made_before, words_outside};
use crate::repo::Repository;

/// List the functions, variables, types and macros that nothing mentions
///
/// Prints a line `FILE:LINE: KIND NAME` for each definition that cannot be reached by name from a main, a constructor, code outside of functions, or a word of a file that is not C (build files, assembler, scripts, lists of symbols). Doubt keeps a name alive: if it is in a string, if ## may build it, if a library exports one like it.
///
/// It reads names, not programs. What headers declare or define may be used by other projects and is left out; '--exported' takes the tree for all there is. Functions that are looked up under names made at run time, that only code outside of the tree calls, or that another configuration uses may be listed although they are used.
#[derive(Debug, Args)]
pub struct DeadEntities {
    /// What to list, as 'KIND NAME file=FILE' [default: everything]
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
    /// List also what headers offer to others
    #[arg(long)]
    exported: bool,
    /// The version to look at [default: the working tree]
    #[arg(long, value_name = "REVISION")]
    at: Option<String>,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(super) fn run(arguments: &DeadEntities) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    let version = match &arguments.at {
        Some(revision) => repository.commit(revision)?,
        None => repository.default_head()?,
    };
    // What a build makes or defines may use a name, too.
    let made = open(&repository).map_or_else(
        |_| Vec::new(),
        |histories| made_before(&repository, &histories, version),
    );
    let same = SameVersion::read(&repository, &config, version, Vec::new())?;
    needs_c::check(same.tree(), version)?;
    let patterns = of_entities(&arguments.patterns, &same)?;
    check(&patterns, &same, version)?;
    let mut outside = Outside {
        words: words_outside(&repository, &same.tree().others)?,
        headers_are_used: !arguments.exported,
    };
    for entity in made.iter().flat_map(|made| &made.facts.entities) {
        outside.words.extend(entity.mentions.iter());
    }
    let files: Vec<Read<'_>> = same
        .program()
        .files
        .iter()
        .zip(same.facts())
        .map(|(file, (path, facts))| Read {
            path,
            lex: &file.lex,
            facts,
        })
        .collect();
    let mut found = dead(&files, &outside);
    found.retain(|one| is_wanted(&patterns, one));
    found.sort_by_key(|one| (one.file, one.entity.span.start));
    match arguments.format {
        Format::Json => {
            let all: Vec<_> = found.iter().map(document).collect();
            print_json(&serde_json::json!({
                "version": 1,
                "head": version.id(),
                "exported": arguments.exported,
                "dead": all,
            }))?;
        }
        Format::Text => print(&lines(&found))?,
    }
    notice!("{}", summary(&found, arguments.exported));
    Ok(())
}

fn is_wanted(patterns: &[Pattern], one: &Dead<'_>) -> bool {
    let (kind, name) = (one.entity.kind, one.entity.name.as_str());
    let mut wanted = patterns.iter();
    patterns.is_empty() || wanted.any(|pattern| pattern.matches(kind, one.file, name))
}

fn lines(found: &[Dead<'_>]) -> String {
    let mut text = String::new();
    for one in found {
        let (line, kind) = (one.entity.span.line, one.entity.kind.word());
        let _ = writeln!(text, "{}:{line}: {kind} {}", one.file, one.entity.name);
    }
    text
}

fn document(one: &Dead<'_>) -> serde_json::Value {
    serde_json::json!({
        "kind": one.entity.kind,
        "file": one.file.to_string(),
        "line": one.entity.span.line,
        "name": one.entity.name,
        "lines": one.entity.end_line - one.entity.span.line + 1,
        "because": match one.is_mentioned {
            true => "only what is dead mentions it",
            false => "nothing mentions it",
        },
    })
}

/// What all of them are, if they are the same.
fn kind(found: &[Dead<'_>]) -> Option<&'static str> {
    let mut kinds = found.iter().map(|one| one.entity.kind.word());
    let first = kinds.next()?;
    kinds.all(|kind| kind == first).then_some(first)
}

fn summary(found: &[Dead<'_>], is_exported: bool) -> String {
    let through = found.iter().filter(|one| one.is_mentioned).count();
    let lines: u32 = found
        .iter()
        .map(|one| one.entity.end_line - one.entity.span.line + 1)
        .sum();
    let mut text = match found.len() {
        0 => "nothing is dead, as far as names tell".to_owned(),
        1 => format!(
            "1 {} is dead, {}",
            kind(found).unwrap_or("entity"),
            count(lines as usize, "line")
        ),
        all => {
            let what =
                kind(found).map_or_else(|| format!("{all} entities"), |kind| count(all, kind));
            format!("{what} are dead, {}", count(lines as usize, "line"))
        }
    };
    if through > 0 {
        let _ = write!(text, "; {through} of them mentioned by the others alone");
    }
    if !is_exported {
        text.push_str("; what headers offer is left out ('--exported' lists it)");
    }
    text
}
