//! Which types of relocations are known on each machine; where another turns up, its object is not understood.

use super::elf::Machine;

/// Whether a type stands for the place of a symbol, directly or through a table that the linker makes.
///
/// Nothing has to be computed: where two objects are equal up to names, the linker computes the same for both. It only
/// matters that the meaning is the field's own, and not, say, a hint about other bytes.
pub(super) fn is_known(machine: Machine, kind: u32) -> bool {
    match machine {
        // What is left out is for the loader, was never used, or stands for the size of a symbol.
        Machine::X86_64 => matches!(kind, 0..=4 | 9..=15 | 17..=31 | 34..=35 | 41..=45),
        // Data, code, groups of moves, the global offset table, thread-local storage and its descriptors.
        Machine::Aarch64 => matches!(kind, 0 | 257..=314 | 512..=573),
    }
}

/// Whether a type in code stands for a distance from the next instruction, which its addend then makes up for.
pub(super) fn counts_from_next_instruction(machine: Machine, kind: u32) -> bool {
    machine == Machine::X86_64 && matches!(kind, 2 | 4 | 9 | 13 | 15 | 24 | 28 | 41 | 42)
}

/// How far that is, at least.
pub(super) const NEXT_INSTRUCTION: usize = 4;

/// Whether a type in data stands for a distance of 64 bits from its own place.
pub(super) fn is_relative(machine: Machine, kind: u32) -> bool {
    match machine {
        Machine::X86_64 => kind == 24,
        Machine::Aarch64 => kind == 260,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_loader_reads_is_not_known() {
        assert!(is_known(Machine::X86_64, 2) && is_known(Machine::X86_64, 42));
        assert!(!is_known(Machine::X86_64, 5) && !is_known(Machine::X86_64, 250));
        assert!(is_known(Machine::Aarch64, 275) && !is_known(Machine::Aarch64, 1024));
    }
}
