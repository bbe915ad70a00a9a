//! Names of symbols as people write them: compilers of C++ and Rust put types and paths into them.

use std::borrow::Cow;

use cpp_demangle::{DemangleOptions, Symbol};

/// A symbol as it is called in its source; as it is, if no compiler changed it.
#[must_use]
pub fn readable(symbol: &str) -> Cow<'_, str> {
    if let Ok(of_rust) = rustc_demangle::try_demangle(symbol) {
        // Without the hash behind it.
        return format!("{of_rust:#}").into();
    }
    let of_cpp = symbol.starts_with("_Z").then(|| {
        let options = DemangleOptions::new().no_return_type();
        Symbol::new(symbol)
            .ok()?
            .demangle_with_options(&options)
            .ok()
    });
    of_cpp.flatten().map_or(symbol.into(), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_told_as_their_source_has_them() {
        for (symbol, name) in [
            ("main", "main"),
            ("_Z_", "_Z_"),
            ("_Z5twiceIiET_S0_", "twice<int>(int)"),
            ("_ZNK6Circle4areaEv", "Circle::area() const"),
            ("_ZN4base5twice17h0123456789abcdefE", "base::twice"),
            ("_RNvCs1234_4base5twice", "base::twice"),
        ] {
            assert_eq!(readable(symbol), name);
        }
    }
}
