//! The program that the kernel runs for every system call of a test: it picks those that somebody should hear of.

use super::calls::{Picked, rows};
use super::kernel::Instruction;

#[cfg(target_arch = "x86_64")]
pub(super) const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(super) const ARCHITECTURE: u32 = 0xc000_00b7;

/// From here on, numbers of x86-64 belong to the calls of x32.
const X32: u32 = 0x4000_0000;

// Where the kernel keeps the call that is asked about: `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE_FIELD: u32 = 4;
/// The lower half of an argument, where all flags and descriptors are.
const fn argument(index: usize) -> u32 {
    16 + 8 * index as u32
}

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const HAS: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;

const PASS: Instruction = plain(RETURN, libc::SECCOMP_RET_ALLOW);
const TELL: Instruction = plain(RETURN, libc::SECCOMP_RET_USER_NOTIF);

/// A filter for the calls of the table. Calls that it lets pass whatever their arguments cost nothing: the kernel remembers that.
pub(super) fn program() -> Vec<Instruction> {
    let mut program = vec![
        plain(LOAD, ARCHITECTURE_FIELD),
        jump(EQUAL, ARCHITECTURE, 1, 0),
        TELL,
        plain(LOAD, NUMBER),
        // Whoever traces a process can take a call away from it.
        jump(EQUAL, u32::MAX, 0, 1),
        PASS,
    ];
    if cfg!(target_arch = "x86_64") {
        program.extend([jump(AT_LEAST, X32, 0, 1), TELL]);
    }
    for row in rows() {
        let Ok(number) = u32::try_from(row.number) else {
            continue;
        };
        let decision = decision(row.picked);
        // Far fewer than fit into a byte.
        program.push(jump(EQUAL, number, 0, decision.len() as u8));
        program.extend(decision);
    }
    program.push(PASS);
    program
}

/// What follows when the number of a call is one of the table's.
fn decision(picked: Picked) -> Vec<Instruction> {
    match picked {
        Picked::All => vec![TELL],
        Picked::Named(flags) => vec![
            plain(LOAD, argument(flags)),
            jump(EQUAL, libc::AT_EMPTY_PATH as u32, 0, 3),
            plain(LOAD, argument(0)),
            jump(EQUAL, libc::AT_FDCWD as u32, 1, 0),
            PASS,
            TELL,
        ],
        Picked::Code => vec![
            plain(LOAD, argument(2)),
            jump(HAS, libc::PROT_EXEC as u32, 0, 2),
            plain(LOAD, argument(3)),
            jump(HAS, libc::MAP_ANONYMOUS as u32, 0, 1),
            PASS,
            TELL,
        ],
    }
}

const fn plain(code: u16, k: u32) -> Instruction {
    jump(code, k, 0, 0)
}

const fn jump(code: u16, k: u32, jt: u8, jf: u8) -> Instruction {
    Instruction { code, jt, jf, k }
}
