//! Decompression that gives up on bytes which promise too much.

use std::borrow::Cow;
use std::io::Read;

use super::Unreadable;
use super::cursor::Cursor;

/// More than zlib can shrink anything.
const GREATEST_RATIO: u64 = 1040;

/// A text as both tables store it: its length, its compressed length or zero, its bytes.
pub(super) fn text<'a>(cursor: &mut Cursor<'a>) -> Result<Cow<'a, [u8]>, Unreadable> {
    let length = cursor.number()?;
    let compressed = cursor.length()?;
    if compressed == 0 {
        return cursor.take_long(length).map(Cow::Borrowed);
    }
    let compressed = cursor.take(compressed)?;
    inflate(compressed, length).map(Cow::Owned)
}

fn inflate(compressed: &[u8], length: u64) -> Result<Vec<u8>, Unreadable> {
    let damaged = Unreadable::Damaged("a compressed table");
    if length > compressed.len() as u64 * GREATEST_RATIO {
        return Err(damaged);
    }
    let mut text = Vec::new();
    // One byte more than promised, to notice a text that is longer.
    let read = flate2::read::ZlibDecoder::new(compressed)
        .take(length + 1)
        .read_to_end(&mut text);
    match read {
        Ok(read) if read as u64 == length => Ok(text),
        _ => Err(damaged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder =
            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).expect("a vector takes everything");
        encoder.finish().expect("a vector takes everything")
    }

    #[test]
    fn the_promised_length_must_be_the_real_one() {
        let bytes = compressed(b"main\x01other");
        assert_eq!(inflate(&bytes, 10), Ok(b"main\x01other".to_vec()));
        assert!(inflate(&bytes, 9).is_err());
        assert!(inflate(&bytes, 11).is_err());
        assert!(inflate(&bytes, u64::MAX).is_err());
    }

    #[test]
    fn a_text_that_was_not_compressed_is_taken_as_it_is() {
        let mut cursor = Cursor::new(b"\x04\0main\x01\0x");
        assert_eq!(text(&mut cursor).as_deref(), Ok(&b"main"[..]));
        assert_eq!(text(&mut cursor).as_deref(), Ok(&b"x"[..]));
        assert!(text(&mut Cursor::new(b"\x09\0main")).is_err());
    }
}
