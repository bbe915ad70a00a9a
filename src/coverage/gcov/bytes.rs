//! The layer that notes and data share: words, strings and records, each with a length that is checked before it is believed.

use super::Unreadable;

/// gcc's major versions whose files are understood.
const KNOWN: std::ops::RangeInclusive<u32> = 9..=14;

/// From this version on lengths count bytes, not words of four, and the header has a checksum.
const BYTE_LENGTHS: u32 = 12;

/// A place in a file, and how its compiler counted lengths.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
    unit: usize,
}

/// What notes and data begin with.
#[derive(Debug)]
pub(super) struct Header {
    /// The version's four characters, for instance `B22*` for gcc 12.2.
    pub(super) version: [u8; 4],
    pub(super) stamp: u32,
    pub(super) checksum: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) tag: u32,
    pub(super) body: Bytes<'a>,
    /// The length in bytes of a body that was left out because it is all zero.
    pub(super) zeros: usize,
}

/// Reads the header; the rest is a sequence of records (behind a few more words in notes).
pub(super) fn open<'a>(
    bytes: &'a [u8],
    magic: u32,
    kind: &'static str,
) -> Result<(Header, Bytes<'a>), Unreadable> {
    let mut place = Bytes {
        rest: bytes,
        unit: 1,
    };
    match place.word() {
        Ok(word) if word == magic => {}
        Ok(word) if word == magic.swap_bytes() => return Err(Unreadable::ByteOrder),
        _ => return Err(Unreadable::NotGcov(kind)),
    }
    let version = place.word()?.to_be_bytes();
    let major = major(version)
        .filter(|major| KNOWN.contains(major))
        .ok_or(Unreadable::Version(version))?;
    let stamp = place.word()?;
    let checksum = if major >= BYTE_LENGTHS {
        Some(place.word()?)
    } else {
        place.unit = 4;
        None
    };
    let header = Header {
        version,
        stamp,
        checksum,
    };
    Ok((header, place))
}

/// `A93*` is gcc 9.3, `B22*` gcc 12.2. Older compilers, and clang, begin with a digit.
fn major(version: [u8; 4]) -> Option<u32> {
    let tens = version[0].checked_sub(b'A')?;
    let ones = version[1].checked_sub(b'0').filter(|digit| *digit < 10)?;
    Some(u32::from(tens) * 10 + u32::from(ones))
}

impl<'a> Bytes<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(Unreadable::CutShort)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn word(&mut self) -> Result<u32, Unreadable> {
        let (word, rest) = self.rest.split_first_chunk().ok_or(Unreadable::CutShort)?;
        self.rest = rest;
        Ok(u32::from_ne_bytes(*word))
    }

    /// A counter: its low word stands first on every machine.
    pub(super) fn counter(&mut self) -> Result<i64, Unreadable> {
        let low = u64::from(self.word()?);
        let high = u64::from(self.word()?);
        Ok((high << 32 | low).cast_signed())
    }

    /// How many pieces of `size` bytes are left.
    pub(super) fn pieces(&self, size: usize) -> usize {
        self.rest.len() / size
    }

    /// A string without the zeros behind it.
    pub(super) fn string(&mut self) -> Result<&'a [u8], Unreadable> {
        let length = usize::try_from(self.word()?).unwrap_or(usize::MAX);
        let padded = self.take(length.saturating_mul(self.unit))?;
        let end = padded.iter().position(|byte| *byte == 0);
        Ok(&padded[..end.unwrap_or(padded.len())])
    }

    /// The next record; nothing behind the tag zero, which ends a file.
    pub(super) fn record(&mut self) -> Result<Option<Record<'a>>, Unreadable> {
        let tag = self.word()?;
        if tag == 0 {
            return Ok(None);
        }
        let length = self.word()?.cast_signed();
        let size = (length.unsigned_abs() as usize).saturating_mul(self.unit);
        let (size, zeros) = if length < 0 { (0, size) } else { (size, 0) };
        let body = Bytes {
            rest: self.take(size)?,
            unit: self.unit,
        };
        Ok(Some(Record { tag, body, zeros }))
    }
}
