//! Which witnesses are heard, for whoever wants to know what each contributes.

use crate::witness::Witness;

/// Which witnesses may speak; the others always do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Witnesses {
    pub source: bool,
    pub object: bool,
    pub files: bool,
    /// It is wanted, too, what each of them alone would select.
    pub are_compared: bool,
}

impl Witnesses {
    pub const ALL: Self = Witnesses {
        source: true,
        object: true,
        files: true,
        are_compared: false,
    };

    /// No two of them, each with its name.
    pub(super) const EACH: [(&str, Self); 3] = {
        let none = Witnesses {
            source: false,
            object: false,
            files: false,
            are_compared: false,
        };
        [
            (
                "source",
                Witnesses {
                    source: true,
                    ..none
                },
            ),
            (
                "object",
                Witnesses {
                    object: true,
                    ..none
                },
            ),
            (
                "files",
                Witnesses {
                    files: true,
                    ..none
                },
            ),
        ]
    };

    pub(super) fn may_speak(self, witness: Witness) -> bool {
        match witness {
            Witness::Source => self.source,
            Witness::Object => self.object,
            Witness::Files => self.files,
            Witness::Definition | Witness::Rules | Witness::Assumption => true,
        }
    }
}
