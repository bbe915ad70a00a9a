//! The analysis under test: two texts to dangerous edges, by the steps of `git_rts::difference` for a tree of one file.

use std::sync::Arc;

use git_rts::compare::affected::Affected;
use git_rts::compare::entity_difference::{ChangeKind, EntityDifference, entity_differences};
use git_rts::compare::functions::{
    DangerGranularity, FilePair, FunctionDifference, compare_functions,
};
use git_rts::lang::c::macros::MacroTable;
use git_rts::lang::c::{Granularity, file_facts, lex_facts};
use git_rts::lang::cfg::Cfg;
use git_rts::lang::facts::{FileFacts, Flow, Kind};

pub(crate) struct Analysis {
    pub(crate) base: Arc<FileFacts>,
    pub(crate) entities: Vec<EntityDifference>,
    pub(crate) functions: Vec<FunctionDifference>,
}

/// Compares two versions of a file.
pub(crate) fn analyse(base: &str, head: &str, granularity: Granularity) -> Analysis {
    let (base_lex, head_lex) = (lex_facts(base.as_bytes()), lex_facts(head.as_bytes()));
    let facts = |text: &str, macros: &MacroTable| {
        Arc::new(file_facts(text.as_bytes(), macros, granularity))
    };
    let base_facts = facts(base, &MacroTable::learn(&base_lex.macros));
    let head_facts = facts(head, &MacroTable::learn(&head_lex.macros));
    let entities = entity_differences(&base_facts, &head_facts);
    let mut affected = Affected::new(base_lex.macros.iter().chain(&head_lex.macros));
    let mut whole = None;
    for difference in &entities {
        match difference.kind {
            Kind::File => whole = Some("the file scope differs".to_owned()),
            Kind::Function if difference.change == ChangeKind::Changed && !difference.interface => {
            }
            _ => affected.add(&difference.name, "it differs"),
        }
    }
    loop {
        affected.spread(&base_facts);
        affected.spread(&head_facts);
        if !affected.settle() {
            break;
        }
    }
    for entity in base_facts.entities.iter().chain(&head_facts.entities) {
        if entity.kind == Kind::File && affected.hit(&entity.mentions).is_some() {
            whole = Some("the file scope is affected".to_owned());
        }
    }
    let pair = FilePair {
        base: Some(base_facts.clone()),
        head: Some(head_facts),
        whole,
        visible: Affected::default(),
    };
    Analysis {
        base: base_facts,
        entities,
        functions: compare_functions(&[pair], &affected),
    }
}

impl Analysis {
    /// The graph of a function of the base, if it has one.
    pub(crate) fn graph(&self, function: &str) -> Option<&Cfg> {
        let entity = self.base.entities.iter().find(|entity| {
            entity.kind == Kind::Function && entity.name == function && entity.body.is_some()
        })?;
        match &entity.body.as_ref()?.flow {
            Flow::Edges(cfg) => Some(cfg),
            Flow::Whole(_) => None,
        }
    }

    /// The dangerous edges of a function; `Err` if whoever enters it is in danger.
    pub(crate) fn dangerous(&self, function: &str) -> Result<&[usize], ()> {
        let found = self
            .functions
            .iter()
            .find(|difference| difference.base.is_some() && difference.name == function);
        match found {
            None => Ok(&[]),
            Some(found) if found.granularity != DangerGranularity::Edge => Err(()),
            Some(found) => Ok(&found.walk.dangerous),
        }
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.entities.is_empty()
            && self
                .functions
                .iter()
                .all(|function| function.walk.dangerous.is_empty())
    }
}
