//! One function of a coverage map: its files, its expressions and its regions, unpacked.

use super::Unreadable;
use super::cursor::Cursor;
use super::expressions::Expressions;
use super::map::{Counter, Expression, Position, Region, RegionKind};

pub(super) struct Mapping {
    pub(super) files: Vec<usize>,
    pub(super) expressions: Vec<Expression>,
    pub(super) regions: Vec<Region>,
    pub(super) counters: usize,
}

/// `table` holds the files of the function's unit.
pub(super) fn read(bytes: &[u8], table: &[usize]) -> Result<Mapping, Unreadable> {
    let mut cursor = Cursor::new(bytes);
    let files = files(&mut cursor, table)?;
    let mut expressions = Expressions::read(&mut cursor)?;
    let mut regions = Vec::new();
    for file in 0..files.len() {
        read_regions(
            &mut cursor,
            file,
            files.len(),
            &mut expressions,
            &mut regions,
        )?;
    }
    count_expansions(&mut regions, files.len());
    let (expressions, renumber) = expressions.sorted()?;
    for region in &mut regions {
        region.counter = renumber.counter(region.counter);
        if let RegionKind::Branch { false_counter } = &mut region.kind {
            *false_counter = renumber.counter(*false_counter);
        }
    }
    let counters = needed_counters(&expressions, &regions);
    Ok(Mapping {
        files,
        expressions,
        regions,
        counters,
    })
}

fn files(cursor: &mut Cursor<'_>, table: &[usize]) -> Result<Vec<usize>, Unreadable> {
    let count = cursor.length()?;
    (0..count)
        .map(|_| {
            let index = cursor.small_number()?;
            let file = usize::try_from(index).ok().and_then(|i| table.get(i));
            file.copied()
                .ok_or(Unreadable::Damaged("a file that is not in its table"))
        })
        .collect()
}

/// The bit above a zero counter's tag that tells an expansion.
const EXPANSION: u32 = 1 << 2;
/// The bit of an end column that tells a gap.
const GAP: u32 = 1 << 31;

fn read_regions(
    cursor: &mut Cursor<'_>,
    file: usize,
    files: usize,
    expressions: &mut Expressions,
    regions: &mut Vec<Region>,
) -> Result<(), Unreadable> {
    let mut line = 0u32;
    for _ in 0..cursor.length()? {
        let (mut kind, counter) = kind(cursor, files, expressions)?;
        let too_large = Unreadable::Damaged("a line that no file has");
        line = line
            .checked_add(cursor.small_number()?)
            .ok_or(too_large.clone())?;
        let mut start = Position {
            line,
            column: cursor.small_number()?,
        };
        let last = line.checked_add(cursor.small_number()?).ok_or(too_large)?;
        let column = cursor.small_number()?;
        let mut end = Position {
            line: last,
            column: column & !GAP,
        };
        if column & GAP != 0 {
            kind = RegionKind::Gap;
        }
        // Short for whole lines.
        if start.column == 0 && end.column == 0 {
            start.column = 1;
            end.column = u32::MAX;
        }
        if start > end {
            return Err(Unreadable::Damaged("a region that ends before it begins"));
        }
        regions.push(Region {
            kind,
            counter,
            file,
            start,
            end,
        });
    }
    Ok(())
}

/// A code region is told by its counter alone; the others have a zero counter's tag and their kind above it.
fn kind(
    cursor: &mut Cursor<'_>,
    files: usize,
    expressions: &mut Expressions,
) -> Result<(RegionKind, Counter), Unreadable> {
    let head = cursor.small_number()?;
    if head & 3 != 0 {
        return Ok((RegionKind::Code, expressions.counter(head)?));
    }
    let what = head >> 3;
    if head & EXPANSION != 0 {
        let file = usize::try_from(what).ok().filter(|file| *file < files);
        let file = file.ok_or(Unreadable::Damaged("an expansion of an unknown file"))?;
        // Its counter is known when all regions are.
        return Ok((RegionKind::Expansion { file }, Counter::Zero));
    }
    match what {
        0 => Ok((RegionKind::Code, Counter::Zero)),
        2 => Ok((RegionKind::Skipped, Counter::Zero)),
        4 | 6 => {
            let counter = cursor.small_number()?;
            let counter = expressions.counter(counter)?;
            let false_counter = cursor.small_number()?;
            let false_counter = expressions.counter(false_counter)?;
            if what == 6 {
                // MC/DC: this condition, and the next one for each outcome.
                for _ in 0..3 {
                    cursor.small_number()?;
                }
            }
            Ok((RegionKind::Branch { false_counter }, counter))
        }
        5 => {
            // MC/DC: a place in the bitmap, the number of conditions.
            cursor.small_number()?;
            cursor.small_number()?;
            Ok((RegionKind::Decision, Counter::Zero))
        }
        _ => Err(Unreadable::Damaged("a region of an unknown kind")),
    }
}

/// An expansion counts what the first region of its text counts, which may be an expansion too.
fn count_expansions(regions: &mut [Region], files: usize) {
    let mut first: Vec<Option<Region>> = vec![None; files];
    for region in regions.iter() {
        first[region.file].get_or_insert(*region);
    }
    // Each text's count, found once: a long chain would otherwise be walked from each of its links.
    let mut counts: Vec<Option<Counter>> = vec![None; files];
    for start in 0..files {
        let mut way = Vec::new();
        let mut file = start;
        let count = loop {
            if let Some(count) = counts[file] {
                break count;
            }
            // Texts that expand into each other are never reached from outside.
            counts[file] = Some(Counter::Zero);
            way.push(file);
            match first[file] {
                Some(region) => match region.kind {
                    RegionKind::Expansion { file: next } => file = next,
                    _ => break region.counter,
                },
                None => break Counter::Zero,
            }
        };
        for file in way {
            counts[file] = Some(count);
        }
    }
    for region in regions {
        if let RegionKind::Expansion { file } = region.kind {
            region.counter = counts[file].unwrap_or(Counter::Zero);
        }
    }
}

fn needed_counters(expressions: &[Expression], regions: &[Region]) -> usize {
    let of_expressions = expressions.iter().flat_map(|e| [e.left, e.right]);
    let of_regions = regions.iter().flat_map(|region| match region.kind {
        RegionKind::Branch { false_counter } => [region.counter, false_counter],
        _ => [region.counter, Counter::Zero],
    });
    let counts = of_expressions
        .chain(of_regions)
        .map(|counter| match counter {
            Counter::Count(index) => index + 1,
            Counter::Zero | Counter::Expression(_) => 0,
        });
    counts.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(bytes: &[u8]) -> Unreadable {
        read(bytes, &[7, 8])
            .map(|_| ())
            .expect_err("the function is damaged")
    }

    #[test]
    fn every_kind_of_region_is_told_apart() {
        let bytes = [
            1, 1, // one file: the second of the table
            1, 1, 5, // one expression: counter 0, counter 1
            7, // regions
            1, 3, 10, 0, 20, // code, counter 0, line 3
            2, 1, 1, 2, 9, // code, the expression as a subtraction
            0, 0, 1, 0, 2, // code that is never executed
            16, 1, 0, 2, 0, // skipped, whole lines
            32, 5, 3, 0, 4, 0, 8, // branch: counter 1 and the expression as an addition
            5, 1, 2, 0, 0x83, 0x80, 0x80, 0x80, 8, // gap
            40, 1, 2, 0, 1, 0, 2, // decision
        ];
        let mapping = read(&bytes, &[7, 8]).expect("the function is sound");
        assert_eq!(mapping.files, [8]);
        assert_eq!(mapping.counters, 2);
        let seen: Vec<_> = mapping
            .regions
            .iter()
            .map(|region| {
                (
                    region.kind,
                    region.counter,
                    (region.start.line, region.start.column),
                    (region.end.line, region.end.column),
                )
            })
            .collect();
        let sum = Counter::Expression(0);
        let branch = RegionKind::Branch { false_counter: sum };
        use Counter::{Count, Zero};
        assert_eq!(
            seen,
            [
                (RegionKind::Code, Count(0), (3, 10), (3, 20)),
                (RegionKind::Code, sum, (4, 1), (6, 9)),
                (RegionKind::Code, Zero, (4, 1), (4, 2)),
                (RegionKind::Skipped, Zero, (5, 1), (7, u32::MAX)),
                (branch, Count(1), (5, 4), (5, 8)),
                (RegionKind::Gap, Count(1), (6, 2), (6, 3)),
                (RegionKind::Decision, Zero, (6, 1), (6, 2)),
            ]
        );
    }

    #[test]
    fn an_expansion_counts_what_its_text_counts_first() {
        let bytes = [
            3, 0, 0, 0, // three virtual files of one file
            0, // no expressions
            2, 1, 1, 1, 0, 9, 12, 1, 2, 0, 3, // code; an expansion of file 1
            1, 20, 1, 1, 0, 2, // file 1 begins with an expansion of file 2
            1, 5, 1, 1, 0, 2, // file 2: counter 1
        ];
        let mapping = read(&bytes, &[7]).expect("the function is sound");
        assert_eq!(mapping.regions[1].kind, RegionKind::Expansion { file: 1 });
        assert_eq!(mapping.regions[1].counter, Counter::Count(1));
        assert_eq!(mapping.regions[2].counter, Counter::Count(1));
    }

    #[test]
    fn texts_that_expand_into_each_other_end() {
        let bytes = [
            3, 0, 0, 0, 0, // three files, no expressions
            1, 12, 1, 1, 0, 9, // file 0: an expansion of file 1
            1, 20, 1, 1, 0, 2, // file 1: an expansion of file 2
            1, 12, 1, 1, 0, 2, // file 2: an expansion of file 1
        ];
        let mapping = read(&bytes, &[7]).expect("the function is sound");
        assert!(mapping.regions.iter().all(|r| r.counter == Counter::Zero));
    }

    #[test]
    fn damage_is_named() {
        assert_eq!(error(&[]), Unreadable::Truncated);
        assert_eq!(error(&[0x7f, 1]), Unreadable::Truncated);
        assert_eq!(
            error(&[1, 2, 0, 0]),
            Unreadable::Damaged("a file that is not in its table")
        );
        assert_eq!(
            error(&[1, 0, 0, 1, 24, 1, 1, 0, 2]),
            Unreadable::Damaged("a region of an unknown kind")
        );
        assert_eq!(
            error(&[1, 0, 0, 1, 12, 1, 1, 0, 2]),
            Unreadable::Damaged("an expansion of an unknown file")
        );
        assert_eq!(
            error(&[1, 0, 0, 1, 1, 1, 5, 0, 2]),
            Unreadable::Damaged("a region that ends before it begins")
        );
        assert_eq!(
            error(&[1, 0, 0, 1, 2, 1, 1, 0, 2]),
            Unreadable::Damaged("a counter of an unknown expression")
        );
    }
}
