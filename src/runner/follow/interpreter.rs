//! Which other program the kernel starts in the place of one: it opens that itself, and no system call names it.

use std::io::Read;

use super::resolve::as_path;

/// The interpreter of a script, or the loader of a dynamic program.
pub(super) fn of(program: &[u8]) -> Option<Vec<u8>> {
    let mut beginning = Vec::with_capacity(4096);
    let file = std::fs::File::open(as_path(program)).ok()?;
    file.take(4096).read_to_end(&mut beginning).ok()?;
    let name = match beginning.strip_prefix(b"#!") {
        Some(line) => of_script(line),
        None => of_elf(&beginning)?,
    };
    (!name.is_empty()).then(|| name.to_vec())
}

fn of_script(line: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let begin = line.iter().position(|byte| !is_space(byte));
    let rest = &line[begin.unwrap_or(line.len())..];
    let end = rest
        .iter()
        .position(|byte| is_space(byte) || matches!(byte, b'\n' | 0));
    &rest[..end.unwrap_or(rest.len())]
}

/// The segment `PT_INTERP` of a little-endian 64-bit file. Linkers put it at the beginning.
fn of_elf(bytes: &[u8]) -> Option<&[u8]> {
    let number = |at: usize, length: usize| -> Option<usize> {
        let bytes = bytes.get(at..at.checked_add(length)?)?;
        bytes.iter().rev().try_fold(0_usize, |sum, byte| {
            sum.checked_mul(256)?.checked_add((*byte).into())
        })
    };
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (first, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for index in 0..count {
        let header = first.checked_add(index.checked_mul(size)?)?;
        if number(header, 4)? == 3 {
            let (begin, length) = (number(header + 8, 8)?, number(header + 32, 8)?);
            let name = bytes.get(begin..begin.checked_add(length)?)?;
            return name.strip_suffix(b"\0");
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_programs_name_theirs() {
        let folder = tempfile::tempdir().expect("there is room");
        let file = folder.path().join("script");
        let of_text = |text: &str| {
            std::fs::write(&file, text).expect("there is room");
            of(file.as_os_str().as_encoded_bytes())
        };
        assert_eq!(of_text("#! /bin/a -b\nc").as_deref(), Some(&b"/bin/a"[..]));
        assert_eq!(of_text("#!./a").as_deref(), Some(&b"./a"[..]));
        assert_eq!(of_text("#!\n"), None);
        assert_eq!(of_text(""), None);
        assert_eq!(of_text("\x7fELF\x02\x01"), None);
        if cfg!(target_arch = "x86_64") {
            let loader = of(b"/bin/sh").unwrap_or_default();
            assert!(loader.starts_with(b"/lib"), "{loader:?}");
        }
    }
}
