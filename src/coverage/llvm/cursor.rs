//! A way forward through bytes that may lie: every step is checked.

use super::Unreadable;

type Result<T> = std::result::Result<T, Unreadable>;

#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(Unreadable::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// As `take`, for a length as profiles write it.
    pub(super) fn take_long(&mut self, length: u64) -> Result<&'a [u8]> {
        self.take(usize::try_from(length).map_err(|_| Unreadable::Truncated)?)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Unreadable::Truncated)?;
        self.rest = rest;
        Ok(u32::from_le_bytes(*taken))
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Unreadable::Truncated)?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*taken))
    }

    /// A number in ULEB128.
    pub(super) fn number(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for (index, byte) in self.rest.iter().enumerate() {
            let bits = u64::from(byte & 0x7f);
            let shift = 7 * index;
            if shift > 63 || bits << shift >> shift != bits {
                return Err(Unreadable::Damaged("a number has too many bits"));
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                self.rest = &self.rest[index + 1..];
                return Ok(value);
            }
        }
        Err(Unreadable::Truncated)
    }

    pub(super) fn small_number(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| Unreadable::Damaged("a number is too large"))
    }

    /// How many things follow. Each takes at least a byte, so a lie is found before memory is set aside.
    pub(super) fn length(&mut self) -> Result<usize> {
        match usize::try_from(self.number()?) {
            Ok(length) if length <= self.rest.len() => Ok(length),
            _ => Err(Unreadable::Truncated),
        }
    }

    /// The bytes behind their own length.
    pub(super) fn string(&mut self) -> Result<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    /// Steps over what fills `used` bytes up to a multiple of eight; the last filler may be missing.
    pub(super) fn align(&mut self, used: usize) {
        let filler = used.next_multiple_of(8) - used;
        self.rest = self.rest.get(filler..).unwrap_or_default();
    }

    pub(super) fn skip_zeros(&mut self) {
        let zeros = self.rest.iter().take_while(|byte| **byte == 0).count();
        self.rest = &self.rest[zeros..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_lengths_are_read() {
        let mut cursor = Cursor::new(&[0, 0x7f, 0x80, 1, 0xe5, 0x8e, 0x26]);
        let numbers: Vec<u64> = (0..4).map_while(|_| cursor.number().ok()).collect();
        assert_eq!(numbers, [0, 127, 128, 624_485]);
        assert!(cursor.is_at_end());
        let mut greatest = [0xff; 10];
        greatest[9] = 1;
        assert_eq!(Cursor::new(&greatest).number(), Ok(u64::MAX));
    }

    #[test]
    fn a_number_without_an_end_is_truncated() {
        assert_eq!(
            Cursor::new(&[0x80, 0x80]).number(),
            Err(Unreadable::Truncated)
        );
        assert_eq!(Cursor::new(&[]).number(), Err(Unreadable::Truncated));
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        let damaged = Err(Unreadable::Damaged("a number has too many bits"));
        assert_eq!(Cursor::new(&[0xff; 11]).number(), damaged);
        let mut bytes = [0x80; 11];
        bytes[10] = 1;
        assert_eq!(Cursor::new(&bytes).number(), damaged);
    }

    #[test]
    fn a_length_beyond_the_end_is_refused_before_anything_is_read() {
        assert_eq!(Cursor::new(&[3, 1, 2]).length(), Err(Unreadable::Truncated));
        assert_eq!(Cursor::new(&[2, 1, 2]).length(), Ok(2));
        assert_eq!(Cursor::new(&[3, 1, 2]).string(), Err(Unreadable::Truncated));
    }
}
