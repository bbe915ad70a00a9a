//! Data (`.gcda`): what a program counted, merged over all its processes by gcc's run-time library.

use super::Unreadable;
use super::bytes;
use super::notes::Identity;

const MAGIC: u32 = u32::from_be_bytes(*b"gcda");

const FUNCTION: u32 = 0x0100_0000;
const ARC_COUNTERS: u32 = 0x01a1_0000;
/// Tags of counters are this far apart; the others are for optimizations.
const NEXT_COUNTERS: u32 = 0x0002_0000;
const LAST_COUNTERS: u32 = 0x01bf_0000;
const OBJECT_SUMMARY: u32 = 0xa100_0000;
const PROGRAM_SUMMARY: u32 = 0xa300_0000;

/// The counters of the functions of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// The four characters of the format's version.
    pub version: [u8; 4],
    pub stamp: u32,
    /// From gcc 12 on.
    pub checksum: Option<u32>,
    pub functions: Vec<Counted>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    pub identity: Identity,
    pub counters: Counters,
}

/// The counters of the arcs that are not on the spanning tree, in the order of the notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counters {
    /// That many, and none was ever counted up.
    Zero(usize),
    Values(Vec<i64>),
}

impl Counters {
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Counters::Zero(length) => *length,
            Counters::Values(values) => values.len(),
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether something was counted. Lost updates do not matter: what was once counted up is never zero again.
    #[must_use]
    pub fn any(&self) -> bool {
        match self {
            Counters::Zero(_) => false,
            Counters::Values(values) => values.iter().any(|value| *value != 0),
        }
    }
}

/// Reads a data file of gcc 9 to 14.
pub fn read(bytes: &[u8]) -> Result<Data, Unreadable> {
    let (header, mut rest) = bytes::open(bytes, MAGIC, "data")?;
    let mut functions: Vec<Counted> = Vec::new();
    let mut open = false;
    // A program that is killed while it writes leaves no zero at the end; what lies behind the zero is left over from an older, longer file.
    while let Some(record) = rest.record()? {
        let mut body = record.body;
        match record.tag {
            // A function whose counters another object holds has an empty record.
            FUNCTION if body.is_empty() => open = false,
            FUNCTION => {
                let identity = Identity {
                    ident: body.word()?,
                    lineno_checksum: body.word()?,
                    cfg_checksum: body.word()?,
                };
                functions.push(Counted {
                    identity,
                    counters: Counters::Zero(0),
                });
                open = true;
            }
            ARC_COUNTERS => {
                let Some(function) = functions.last_mut().filter(|_| open) else {
                    return Err(Unreadable::Damaged("counters without a function"));
                };
                if !function.counters.is_empty() {
                    return Err(Unreadable::Damaged("a function is counted twice"));
                }
                function.counters = counters(body, record.zeros)?;
            }
            OBJECT_SUMMARY | PROGRAM_SUMMARY => {}
            tag if is_counters(tag) => {}
            _ => return Err(Unreadable::Damaged("a record of an unknown kind")),
        }
    }
    Ok(Data {
        version: header.version,
        stamp: header.stamp,
        checksum: header.checksum,
        functions,
    })
}

fn is_counters(tag: u32) -> bool {
    (ARC_COUNTERS..=LAST_COUNTERS).contains(&tag)
        && (tag - ARC_COUNTERS).is_multiple_of(NEXT_COUNTERS)
}

const COUNTER: usize = 8;

fn counters(mut body: bytes::Bytes<'_>, zeros: usize) -> Result<Counters, Unreadable> {
    if zeros > 0 {
        return Ok(Counters::Zero(zeros / COUNTER));
    }
    let mut values = Vec::with_capacity(body.pieces(COUNTER));
    while !body.is_empty() {
        values.push(body.counter()?);
    }
    Ok(Counters::Values(values))
}
