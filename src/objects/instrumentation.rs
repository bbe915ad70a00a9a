//! What in an object is not the program: counters and their descriptions, debug information, notes, tables for unwinding.
//!
//! The counters follow from the structure of the source. Who increments which is no behaviour of the program, and a change of the
//! structure that makes other code makes other bytes in that code. So references to counters are written without the counter's
//! name, which may hold the path of a source, and descriptions of counters (hashes, checksums, stamps, paths) are not read.

/// Sections of counters and of what describes them.
pub(super) fn is_counting_section(name: &str) -> bool {
    name.starts_with("__llvm_prf_")
        || name.starts_with("__llvm_cov")
        // gcc names sections after their variables: counters, functions, the file, and its list of functions.
        || name.contains(".__gcov0.")
        || name.contains(".__gcov_.")
        || name.ends_with("..LPBX0")
        || name.ends_with("..LPBX1")
        // Where the object that we add finds its folders.
        || name.starts_with(".git_rts.")
}

/// Variables of counters and of what describes them.
pub(super) fn is_counting(name: &str) -> bool {
    const BEGINNINGS: [&str; 9] = [
        "__profc_",
        "__profd_",
        "__profn_",
        "__profvp_",
        "__profbm_",
        "__covrec_",
        "__llvm_profile_",
        "__llvm_prf_",
        "__gcov0.",
    ];
    BEGINNINGS
        .iter()
        .any(|beginning| name.starts_with(beginning))
        || name.starts_with("__gcov_.")
        || name.starts_with("__llvm_coverage_mapping")
}

/// Functions of the objects that we link in ourselves.
#[must_use]
pub fn is_ours(name: &str) -> bool {
    name.starts_with("git_rts_")
}

/// Functions that gcc makes to announce the counters of a file when a program begins and ends.
pub(super) fn is_announcing(name: &str) -> bool {
    // The number is the priority of gcc's own constructors, which no program may use.
    name.starts_with("_sub_I_00100_") || name.starts_with("_sub_D_00100_")
}

/// Sections that hold no part of the program, although they are loaded with it.
///
/// Frames for unwinding describe code that is compared itself; whether there are any counts with the code.
/// Tables of exceptions say what is caught, so they do count.
pub(super) fn is_beside_the_program(name: &str) -> bool {
    name.starts_with(".note") || name == ".eh_frame" || name == ".eh_frame_hdr"
}

/// Sections of gcc that become code only at the link.
pub(super) fn is_postponed(name: &str) -> bool {
    name.starts_with(".gnu.lto_") || name.starts_with(".gnu.offload_lto_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_told_from_the_program() {
        for name in ["__profc_f", "__profd_a.c:f", "__gcov0.f", "__gcov_.f"] {
            assert!(is_counting(name), "{name}");
        }
        // The runtime of gcc is called by programs, too.
        for name in ["__gcov_dump", "profc_", "main"] {
            assert!(!is_counting(name), "{name}");
        }
        for name in [
            "__llvm_prf_cnts",
            ".bss.__gcov0.f",
            ".data.rel..LPBX0",
            ".data.rel.local.__gcov_.f",
        ] {
            assert!(is_counting_section(name), "{name}");
        }
        assert!(!is_counting_section(".data.rel.ro.table"));
    }
}
