//! Dangerous edges with the lines and texts of their ends, in both versions.

use rustc_hash::FxHashMap;

use crate::compare::functions::FunctionDifference;
use crate::difference::Difference;
use crate::error::Result;
use crate::lang::cfg::{Cfg, NodeKind};
use crate::lang::facts::{Entity, Flow};
use crate::repo::{BlobId, BlobReader, Repository};

/// One end of an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub line: u32,
    pub text: String,
}

#[derive(Debug, Clone)]
pub struct DangerousEdge {
    /// Index of the function difference.
    pub function: usize,
    /// Its number in the graph of the base.
    pub edge: usize,
    pub label: String,
    pub from: End,
    pub to: End,
    /// Where the head version goes instead, if the label is still there.
    pub instead: Option<End>,
}

impl DangerousEdge {
    /// In words.
    #[must_use]
    pub fn text(&self) -> String {
        edge_text(&self.from.text, &self.label, &self.to.text)
    }
}

/// The texts of blobs, read when they are first needed.
pub struct Texts {
    reader: BlobReader,
    read: FxHashMap<BlobId, Vec<u8>>,
}

impl Texts {
    pub fn new(repository: &Repository) -> Result<Self> {
        Ok(Texts {
            reader: repository.reader()?,
            read: FxHashMap::default(),
        })
    }

    pub fn get(&mut self, id: BlobId) -> Result<&[u8]> {
        if !self.read.contains_key(&id) {
            let bytes = self.reader.read(id)?;
            self.read.insert(id, bytes);
        }
        Ok(&self.read[&id])
    }
}

/// An edge in words: `'from' -label-> 'to'`.
#[must_use]
pub fn edge_text(from: &str, label: &str, to: &str) -> String {
    let arrow = match label {
        "" => "->".to_owned(),
        label => format!("-{label}->"),
    };
    format!("'{from}' {arrow} '{to}'")
}

/// Reads every dangerous edge of a difference.
pub fn dangerous_edges(difference: &Difference, texts: &mut Texts) -> Result<Vec<DangerousEdge>> {
    let mut edges = Vec::new();
    for (index, function) in difference.functions.iter().enumerate() {
        if function.walk.dangerous.is_empty() {
            continue;
        }
        let file = &difference.files[function.file];
        let base = side(difference, function, true);
        let head = side(difference, function, false);
        let Some((entity, base_cfg)) = base else {
            continue;
        };
        let Some((_, id)) = &file.base else {
            continue;
        };
        let Some(cfg) = base_cfg else {
            edges.push(entry_edge(index, entity));
            continue;
        };
        let names = node_texts(texts.get(*id)?, cfg, &entity.name);
        let head_names = match (&file.head, head) {
            (Some((_, id)), Some((entity, Some(cfg)))) => {
                Some((cfg, node_texts(texts.get(*id)?, cfg, &entity.name)))
            }
            _ => None,
        };
        for edge_index in &function.walk.dangerous {
            let edge = &cfg.edges[*edge_index];
            let end = |cfg: &Cfg, names: &[String], node: u32| End {
                line: line_of(cfg, node as usize, entity),
                text: names[node as usize].clone(),
            };
            let instead = function
                .walk
                .instead
                .iter()
                .find(|(danger, _)| danger == edge_index)
                .and_then(|(_, other)| {
                    let (cfg, names) = head_names.as_ref()?;
                    Some(end(cfg, names, cfg.edges.get(*other)?.to))
                });
            edges.push(DangerousEdge {
                function: index,
                edge: *edge_index,
                label: edge.label.text(),
                from: end(cfg, &names, edge.from),
                to: end(cfg, &names, edge.to),
                instead,
            });
        }
    }
    Ok(edges)
}

/// The entity and, if it has one, the graph of one side of a function.
pub fn side<'d>(
    difference: &'d Difference,
    function: &FunctionDifference,
    base: bool,
) -> Option<(&'d Entity, Option<&'d Cfg>)> {
    let pair = &difference.pairs[function.file];
    let (facts, index) = if base {
        (&pair.base, function.base)
    } else {
        (&pair.head, function.head)
    };
    let entity = facts.as_ref()?.entities.get(index?)?;
    let cfg = match &entity.body.as_ref()?.flow {
        Flow::Edges(cfg) => Some(cfg),
        Flow::Whole(_) => None,
    };
    Some((entity, cfg))
}

/// The source text of every node, on one line.
#[must_use]
pub fn node_texts(source: &[u8], cfg: &Cfg, function: &str) -> Vec<String> {
    cfg.nodes
        .iter()
        .map(|node| match node.kind {
            NodeKind::Entry => format!("entry {function}"),
            NodeKind::Exit => format!("exit {function}"),
            _ => {
                let range = node.span.start as usize..node.span.end as usize;
                let text = String::from_utf8_lossy(source.get(range).unwrap_or_default());
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
        })
        .collect()
}

fn line_of(cfg: &Cfg, node: usize, entity: &Entity) -> u32 {
    match cfg.nodes[node].kind {
        NodeKind::Entry => entity.span.line,
        NodeKind::Exit => entity.end_line,
        _ => cfg.nodes[node].span.line,
    }
}

/// The one edge of a function without a graph.
fn entry_edge(function: usize, entity: &Entity) -> DangerousEdge {
    DangerousEdge {
        function,
        edge: 0,
        label: String::new(),
        from: End {
            line: entity.span.line,
            text: format!("entry {}", entity.name),
        },
        to: End {
            line: entity.span.line,
            text: format!("{} as a whole", entity.name),
        },
        instead: None,
    }
}
