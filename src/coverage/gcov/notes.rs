//! Notes (`.gcno`): what the compiler knew of each function, written beside its object.

use rustc_hash::FxHashMap;

use super::Unreadable;
use super::bytes::{self, Bytes};

const MAGIC: u32 = u32::from_be_bytes(*b"gcno");

const FUNCTION: u32 = 0x0100_0000;
const BLOCKS: u32 = 0x0141_0000;
const ARCS: u32 = 0x0143_0000;
const LINES: u32 = 0x0145_0000;
/// From gcc 14 on, with `-fcondition-coverage`.
const CONDITIONS: u32 = 0x0147_0000;

const ON_TREE: u32 = 1;
const FAKE: u32 = 2;
const FALL_THROUGH: u32 = 4;

/// The block in which every function begins.
pub const ENTRY: u32 = 0;
/// The block in which it ends.
pub const EXIT: u32 = 1;

/// The notes of one object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notes {
    /// The four characters of the format's version.
    pub version: [u8; 4],
    /// The data of a program built from this object carry the same stamp.
    pub stamp: u32,
    /// From gcc 12 on.
    pub checksum: Option<u32>,
    /// Where the compiler ran: relative file names are relative to it.
    pub working_directory: Vec<u8>,
    /// The names of all source files, as the compiler was told them.
    pub files: Vec<Vec<u8>>,
    pub functions: Vec<Function>,
    identities: FxHashMap<Identity, usize>,
}

/// What a function is known by in notes and data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Identity {
    pub ident: u32,
    pub lineno_checksum: u32,
    pub cfg_checksum: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Function {
    pub identity: Identity,
    /// The name in the symbol table.
    pub name: String,
    /// Made by the compiler, for instance the body of an OpenMP loop. `gcov` hides these; their lines are executed all the same.
    pub artificial: bool,
    /// An index into the files of the notes, as everywhere here.
    pub file: u32,
    pub start_line: u32,
    pub start_column: u32,
    pub end_line: u32,
    pub end_column: Option<u32>,
    /// How many blocks there are, with entry and exit.
    pub blocks: u32,
    /// By source block, and in the order of the counters.
    pub arcs: Vec<Arc>,
    pub lines: Vec<Line>,
    /// There is a loop without a way to the exit: what enters it is missing from the sums.
    pub endless: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arc {
    pub from: u32,
    pub to: u32,
    /// On the spanning tree: it has no counter.
    pub on_tree: bool,
    /// A call that may not return goes to the exit; a second return comes from the entry. No instruction stands for it.
    pub fake: bool,
    pub fall_through: bool,
}

/// A line of a block. Inlined code keeps the file and line it was written on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub block: u32,
    pub file: u32,
    pub line: u32,
}

impl Notes {
    #[must_use]
    pub fn find(&self, identity: Identity) -> Option<usize> {
        self.identities.get(&identity).copied()
    }
}

impl Function {
    /// How many counters the function has in the data.
    #[must_use]
    pub fn counters(&self) -> usize {
        self.arcs.iter().filter(|arc| !arc.on_tree).count()
    }
}

/// Reads a notes file of gcc 9 to 14.
pub fn read(bytes: &[u8]) -> Result<Notes, Unreadable> {
    let (header, mut rest) = bytes::open(bytes, MAGIC, "notes")?;
    let mut notes = Notes {
        version: header.version,
        stamp: header.stamp,
        checksum: header.checksum,
        working_directory: rest.string()?.to_vec(),
        ..Notes::default()
    };
    // Whether the compiler can tell unexecuted blocks; it always can.
    rest.word()?;
    let mut files = FileNames::default();
    let mut current: Option<Unfinished> = None;
    while !rest.is_empty() {
        let Some(record) = rest.record()? else {
            break;
        };
        if record.zeros > 0 {
            return Err(Unreadable::Damaged("a record of negative length"));
        }
        let body = record.body;
        match (record.tag, &mut current) {
            (FUNCTION, _) => {
                finish(current.take(), &mut notes)?;
                current = Some(Unfinished {
                    function: announced(body, &mut files)?,
                    sources: 0,
                    next_source: 0,
                });
            }
            (BLOCKS | ARCS | LINES, None) => {
                return Err(Unreadable::Damaged("a graph without a function"));
            }
            (BLOCKS, Some(current)) => blocks(body, &mut current.function)?,
            (ARCS, Some(current)) => arcs(body, current)?,
            (LINES, Some(current)) => lines(body, &mut current.function, &mut files)?,
            (CONDITIONS, _) => {}
            // To overlook one could mean to overlook lines.
            _ => return Err(Unreadable::Damaged("a record of an unknown kind")),
        }
    }
    finish(current, &mut notes)?;
    notes.files = files.names;
    Ok(notes)
}

fn announced<'a>(mut body: Bytes<'a>, files: &mut FileNames<'a>) -> Result<Function, Unreadable> {
    Ok(Function {
        identity: Identity {
            ident: body.word()?,
            lineno_checksum: body.word()?,
            cfg_checksum: body.word()?,
        },
        name: String::from_utf8_lossy(body.string()?).into_owned(),
        artificial: body.word()? != 0,
        file: files.number(body.string()?),
        start_line: body.word()?,
        start_column: body.word()?,
        end_line: body.word()?,
        end_column: if body.is_empty() {
            None
        } else {
            Some(body.word()?)
        },
        ..Function::default()
    })
}

fn blocks(mut body: Bytes<'_>, function: &mut Function) -> Result<(), Unreadable> {
    if function.blocks != 0 {
        return Err(Unreadable::Damaged("the blocks are given twice"));
    }
    function.blocks = body.word()?;
    Ok(())
}

/// The arcs that leave one block. Counters are numbered by source block, so the blocks must come in order, and once.
fn arcs(mut body: Bytes<'_>, current: &mut Unfinished) -> Result<(), Unreadable> {
    let function = &mut current.function;
    let from = body.word()?;
    if from >= function.blocks {
        return Err(Unreadable::Damaged("an arc from a block that is not there"));
    }
    if from < current.next_source {
        return Err(Unreadable::Damaged("the arcs are out of order"));
    }
    current.next_source = from + 1;
    current.sources += 1;
    while !body.is_empty() {
        let to = body.word()?;
        let flags = body.word()?;
        if to >= function.blocks {
            return Err(Unreadable::Damaged("an arc to a block that is not there"));
        }
        function.arcs.push(Arc {
            from,
            to,
            on_tree: flags & ON_TREE != 0,
            fake: flags & FAKE != 0,
            fall_through: flags & FALL_THROUGH != 0,
        });
    }
    Ok(())
}

/// The lines of one block: after a zero comes the name of their file, and an empty name ends them.
fn lines<'a>(
    mut body: Bytes<'a>,
    function: &mut Function,
    files: &mut FileNames<'a>,
) -> Result<(), Unreadable> {
    let block = body.word()?;
    if block >= function.blocks {
        return Err(Unreadable::Damaged("lines of a block that is not there"));
    }
    let mut file = None;
    loop {
        let line = body.word()?;
        if line == 0 {
            let name = body.string()?;
            if name.is_empty() {
                return Ok(());
            }
            file = Some(files.number(name));
        } else {
            let file = file.ok_or(Unreadable::Damaged("a line without a file"))?;
            function.lines.push(Line { block, file, line });
        }
    }
}

/// A function whose records are still being read.
struct Unfinished {
    function: Function,
    /// How many blocks have told their arcs.
    sources: u32,
    next_source: u32,
}

/// Takes a function in whose records are complete.
fn finish(current: Option<Unfinished>, notes: &mut Notes) -> Result<(), Unreadable> {
    let Some(Unfinished {
        mut function,
        sources,
        ..
    }) = current
    else {
        return Ok(());
    };
    if function.blocks <= EXIT {
        return Err(Unreadable::Damaged("a function without entry and exit"));
    }
    // All blocks but the exit do. This also bounds what a number in the file can make us allocate.
    if function.blocks - 1 > sources {
        return Err(Unreadable::Damaged("a block without a list of arcs"));
    }
    function.endless = is_endless(function.blocks as usize, &function.arcs);
    let number = notes.functions.len();
    if notes.identities.insert(function.identity, number).is_some() {
        return Err(Unreadable::Damaged("two functions with one identity"));
    }
    notes.functions.push(function);
    Ok(())
}

/// Goes back from the exit. A loop that only a signal or another thread ends has no arc that leaves it.
fn is_endless(blocks: usize, arcs: &[Arc]) -> bool {
    let mut by_target: Vec<&Arc> = arcs.iter().collect();
    by_target.sort_by_key(|arc| arc.to);
    let mut reached = vec![false; blocks];
    reached[EXIT as usize] = true;
    let mut open = vec![EXIT];
    while let Some(block) = open.pop() {
        let first = by_target.partition_point(|arc| arc.to < block);
        for arc in by_target[first..].iter().take_while(|arc| arc.to == block) {
            if !reached[arc.from as usize] {
                reached[arc.from as usize] = true;
                open.push(arc.from);
            }
        }
    }
    // Behind a call that returns twice gcc puts a block that nothing enters or leaves.
    arcs.iter()
        .any(|arc| !arc.fake && !reached[arc.to as usize])
}

/// The source files met so far. Nearly every line names the file of the line before.
#[derive(Default)]
struct FileNames<'a> {
    names: Vec<Vec<u8>>,
    numbers: FxHashMap<&'a [u8], u32>,
}

impl<'a> FileNames<'a> {
    fn number(&mut self, name: &'a [u8]) -> u32 {
        let next = self.names.len() as u32;
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name.to_vec());
            next
        })
    }
}
