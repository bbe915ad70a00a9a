//! The body of a function: masked, parsed, and turned into a graph, or kept whole with the reason.

use std::cell::RefCell;

use rustc_hash::FxHashSet;
use tree_sitter::{Parser, Tree};

use crate::digest::{Digest, Name, Names};
use crate::lang::c::describe::Describer;
pub use crate::lang::c::flow::Granularity;
use crate::lang::c::flow::{Header, build};
use crate::lang::c::items::Item;
use crate::lang::c::macros::MacroTable;
use crate::lang::c::mask::{Masked, mask};
use crate::lang::c::parameters::parameters;
use crate::lang::c::source::Source;
use crate::lang::facts::Flow;

/// A function definition as the items know it.
pub(crate) struct Definition {
    pub(crate) item: Item,
    pub(crate) name: usize,
    pub(crate) open: usize,
    pub(crate) interface: u64,
    /// Files that are included in the middle of the function.
    pub(crate) included: Vec<Name>,
}

pub(crate) struct FunctionBody {
    pub(crate) flow: Flow,
    pub(crate) mentions: Names,
    pub(crate) locals: Vec<(Name, u64)>,
}

/// Reads the body of a function; never fails.
pub(crate) fn body(
    source: &Source<'_>,
    macros: &MacroTable,
    granularity: Granularity,
    definition: &Definition,
) -> FunctionBody {
    let whole = source.token_range(definition.item.first, definition.item.last);
    let conditions = source.conditionals.names_around(whole.start);
    let mentions: Names = source
        .names_in(whole)
        .chain(conditions)
        .chain(definition.included.iter().copied())
        .collect();
    match flow(source, macros, granularity, definition) {
        Ok((flow, locals)) => FunctionBody {
            flow,
            mentions,
            locals,
        },
        Err(reason) => FunctionBody {
            flow: Flow::Whole(reason),
            mentions,
            locals: Vec::new(),
        },
    }
}

type Locals = Vec<(Name, u64)>;

fn flow(
    source: &Source<'_>,
    macros: &MacroTable,
    granularity: Granularity,
    definition: &Definition,
) -> Result<(Flow, Locals), String> {
    if !definition.included.is_empty() {
        return Err("it includes a file in its middle".to_owned());
    }
    let close = definition.item.last;
    let masked = mask(source, macros, definition.open, close)?;
    let tree = parse(&masked)?;
    let describer = Describer {
        source,
        macros,
        masked: &masked,
        covered: RefCell::new(FxHashSet::default()),
    };
    let parameters = parameters(source, macros, definition);
    let mut digest = Digest::new();
    digest.absorb(definition.interface);
    let header = Header {
        span: source.span(&source.token_range(definition.item.first, definition.open - 1)),
        digest: digest.finish(),
        mentions: parameters.header_mentions,
        parameters: parameters.bound,
    };
    let built = build(&describer, granularity, header, &tree)?;
    Ok((Flow::Edges(built.cfg), built.locals))
}

pub(crate) fn parse(masked: &Masked) -> Result<Tree, String> {
    thread_local! {
        static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
    }
    PARSER.with(|slot| {
        let mut slot = slot.borrow_mut();
        if slot.is_none() {
            let mut parser = Parser::new();
            parser
                .set_language(&tree_sitter_c::LANGUAGE.into())
                .map_err(|error| error.to_string())?;
            *slot = Some(parser);
        }
        slot.as_mut()
            .and_then(|parser| parser.parse(&masked.text, None))
            .ok_or_else(|| "the parser gave up".to_owned())
    })
}
