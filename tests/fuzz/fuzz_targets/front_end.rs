//! The front end on any bytes: it must end, without a panic, with a sound graph for every function.

#![no_main]

use git_rts::compare::select_tests::{SameTokens, select_tests};
use git_rts::lang::c::macros::MacroTable;
use git_rts::lang::c::{Granularity, file_facts, lex_facts};
use git_rts::lang::cfg::{EXIT, ENTRY};
use git_rts::lang::facts::Flow;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let macros = MacroTable::learn(&lex_facts(bytes).macros);
    for granularity in [Granularity::Expression, Granularity::Statement] {
        let facts = file_facts(bytes, &macros, granularity);
        for entity in &facts.entities {
            assert!(entity.span.start <= entity.span.end && entity.span.end as usize <= bytes.len());
            let Some(Flow::Edges(cfg)) = entity.body.as_ref().map(|body| &body.flow) else {
                continue;
            };
            assert!(cfg.edges.is_sorted_by_key(|edge| edge.from));
            for edge in &cfg.edges {
                assert!((edge.from as usize) < cfg.nodes.len() && (edge.to as usize) < cfg.nodes.len());
                assert!(edge.from as usize != EXIT && edge.to as usize != ENTRY);
            }
            // A function is the same as itself.
            assert!(select_tests(cfg, cfg, &SameTokens).dangerous.is_empty());
        }
    }
});
