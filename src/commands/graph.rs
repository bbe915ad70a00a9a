//! `git rts graph`: both control-flow graphs of a function side by side.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::commands::needs_c;
use crate::commands::output::print;
use crate::commands::versions::Versions;
use crate::compare::functions::FunctionDifference;
use crate::compare::select_tests::Walk;
use crate::config::Config;
use crate::difference::{
    Building, Difference, FunctionVersion, difference, find_function, source_files,
};
use crate::emit::edges::{Texts, node_texts};
use crate::emit::graph::{GraphPair, Side, dot, svg};
use crate::emit::graph_side::side;
use crate::error::{Error, Result};
use crate::lang::cfg::Cfg;
use crate::lang::facts::Flow;
use crate::repo::{BlobId, RepoPath, Repository};

/// Draw the control-flow graphs of a function in both versions
///
/// Changed nodes are marked, dangerous edges are red. The picture is an SVG that any browser shows.
#[derive(Debug, Args)]
pub struct Graph {
    /// The function, as NAME or FILE:NAME
    function: String,
    #[command(flatten)]
    versions: Versions,
    /// What to draw with
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The file to write; '.dot' or '.gv' at its end is for Graphviz, anything else a picture, unless '--format' says otherwise [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A picture
    Svg,
    /// Text for Graphviz
    Dot,
}

pub(super) fn run(arguments: &Graph) -> Result<()> {
    let repository = Repository::discover()?;
    let config = Config::read(&repository)?;
    let versions = arguments.versions.resolve(&repository)?;
    let granularity = arguments.versions.granularity();
    let (file, name) = match arguments.function.rsplit_once(':') {
        Some((file, name)) => (Some(file), name),
        None => (None, arguments.function.as_str()),
    };
    let found = find_function(&repository, &config, versions, granularity, (file, name));
    if found.is_err() {
        let version = versions.1;
        needs_c::check(&source_files(&repository, &config, &version)?, version)?;
    }
    let (base, head) = found?;
    let difference = difference(
        &repository,
        &config,
        versions,
        Building::default(),
        granularity,
    )?;
    let walk = walk_of(&difference, base.as_ref(), head.as_ref());
    let mut texts = Texts::new(&repository)?;
    let base_side = match &base {
        Some(found) => Some(draw(
            found,
            difference.base.to_string(),
            walk.map(|walk| (walk, true)),
            &mut texts,
        )?),
        None => None,
    };
    let head_side = match &head {
        Some(found) => Some(draw(
            found,
            difference.head.to_string(),
            walk.map(|walk| (walk, false)),
            &mut texts,
        )?),
        None => None,
    };
    let pair = GraphPair {
        function: name.to_owned(),
        file: base
            .as_ref()
            .or(head.as_ref())
            .map(|found| found.path.to_string())
            .unwrap_or_default(),
        base: base_side,
        head: head_side,
    };
    let end = arguments.output.as_deref().and_then(Path::extension);
    let is_for_graphviz = end.is_some_and(|end| end == "dot" || end == "gv");
    let drawn = match arguments.format {
        Some(Format::Dot) => dot(&pair),
        None if is_for_graphviz => dot(&pair),
        Some(Format::Svg) | None => svg(&pair),
    };
    match &arguments.output {
        None => print(&drawn),
        Some(path) => std::fs::write(path, drawn)
            .map_err(|error| Error::new(format!("cannot write '{}': {error}", path.display()))),
    }
}

/// What the comparison found in the function; nothing if it is the same in both versions.
fn walk_of<'d>(
    difference: &'d Difference,
    base: Option<&FunctionVersion>,
    head: Option<&FunctionVersion>,
) -> Option<&'d Walk> {
    let name = &base.or(head)?.entity.name;
    let in_file = |function: &&FunctionDifference| {
        let file = &difference.files[function.file];
        let is = |side: &Option<(RepoPath, BlobId)>, found: Option<&FunctionVersion>| {
            side.as_ref()
                .zip(found)
                .is_some_and(|((path, _), found)| *path == found.path)
        };
        is(&file.base, base) || is(&file.head, head)
    };
    let found = difference
        .functions
        .iter()
        .filter(in_file)
        .find(|function| function.name == *name)?;
    Some(&found.walk)
}

fn graph_of(found: &FunctionVersion) -> Result<&Cfg> {
    match found.entity.body.as_ref().map(|body| &body.flow) {
        Some(Flow::Edges(cfg)) => Ok(cfg),
        Some(Flow::Whole(reason)) => Err(Error::new(format!(
            "'{}' is known only as a whole function: {reason}",
            found.entity.name
        ))),
        None => Err(Error::new(format!("'{}' has no body", found.entity.name))),
    }
}

/// One side of the picture.
fn draw<'a>(
    found: &'a FunctionVersion,
    title: String,
    walk: Option<(&Walk, bool)>,
    texts: &mut Texts,
) -> Result<Side<'a>> {
    let cfg = graph_of(found)?;
    let names = node_texts(texts.get(found.id)?, cfg, &found.entity.name);
    Ok(side(title, cfg, names, walk))
}
