//! Bytes that no compiler wrote: an answer or an error, never a panic, an endless loop or a huge allocation.

use std::sync::LazyLock;

use git_rts::coverage::gcov::collect::hits;
use git_rts::coverage::gcov::{data, notes};
use proptest::prelude::*;

use crate::program::{COMPILERS, compile};

/// Notes and data of an object, as each compiler writes them.
type Files = LazyLock<Vec<(Vec<u8>, Vec<u8>)>>;

static SMALL: Files = LazyLock::new(|| written(&["first.c", "second.c"], "second"));
static LARGE: Files = LazyLock::new(|| written(&["statements.c"], "statements"));

fn written(sources: &[&str], object: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    COMPILERS
        .into_iter()
        .map(|compiler| {
            let compiled = compile(compiler, &["-O2"], sources, &[]);
            compiled.run(&["7"]).files(object)
        })
        .collect()
}

/// Reads both and solves what can be solved.
fn survive(notes: &[u8], data: &[u8]) {
    if let (Ok(notes), Ok(data)) = (notes::read(notes), data::read(data)) {
        for widen in [false, true] {
            let _ = hits(&notes, &data, widen);
        }
    }
}

#[test]
fn data_cut_anywhere_is_an_error() {
    for (_, data) in &*SMALL {
        assert!(data::read(data).is_ok());
        for length in 0..data.len() {
            assert!(data::read(&data[..length]).is_err(), "cut at {length}");
        }
    }
}

#[test]
fn notes_cut_anywhere_do_not_pair_with_whole_data() {
    for (notes, data) in &*SMALL {
        let data = data::read(data).unwrap();
        for length in 0..notes.len() {
            // Between two records the end cannot be seen, but then a function or a counter is missing.
            if let Ok(notes) = notes::read(&notes[..length]) {
                let found = hits(&notes, &data, false);
                let lines_cut = notes.functions.len() == data.functions.len();
                assert!(found.is_err() || lines_cut, "cut at {length}");
            }
        }
    }
}

#[test]
fn numbers_that_promise_gigabytes_cost_nothing() {
    for (notes, data) in &*SMALL {
        for place in 0..notes.len() / 4 {
            for value in [u32::MAX, 0x7fff_ffff, 0x8000_0000, 0x4000_0000, 0] {
                let mut bytes = notes.clone();
                bytes[place * 4..place * 4 + 4].copy_from_slice(&value.to_ne_bytes());
                survive(&bytes, data);
            }
        }
        for place in 0..data.len() / 4 {
            for value in [u32::MAX, 0x7fff_ffff, 0x8000_0000, 0x4000_0000, 0] {
                let mut bytes = data.clone();
                bytes[place * 4..place * 4 + 4].copy_from_slice(&value.to_ne_bytes());
                survive(notes, &bytes);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bits_do_no_harm(
        compiler in 0..COMPILERS.len(),
        flips in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>(), 0..8u32), 1..12),
    ) {
        let (mut notes, mut data) = LARGE[compiler].clone();
        for (in_notes, place, bit) in flips {
            let bytes = if in_notes { &mut notes } else { &mut data };
            let place = place.index(bytes.len());
            bytes[place] ^= 1 << bit;
        }
        survive(&notes, &data);
    }

    #[test]
    fn spliced_files_do_no_harm(
        compiler in 0..COMPILERS.len(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 4),
    ) {
        let (notes, data) = &LARGE[compiler];
        let splice = |bytes: &[u8], from: usize, to: usize| [&bytes[..from], &bytes[to..]].concat();
        let notes = splice(notes, cuts[0].index(notes.len()), cuts[1].index(notes.len()));
        let data = splice(data, cuts[2].index(data.len()), cuts[3].index(data.len()));
        survive(&notes, &data);
    }

    #[test]
    fn noise_does_no_harm(noise in prop::collection::vec(any::<u8>(), 0..600)) {
        let (notes, data) = &LARGE[0];
        survive(&noise, data);
        survive(&[&notes[..16], &noise[..]].concat(), data);
        survive(notes, &[&data[..16], &noise[..]].concat());
    }
}
