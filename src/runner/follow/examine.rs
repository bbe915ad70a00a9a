//! One system call of a test: which files it looks at, found out while it waits.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::calls::{Last, Meaning, Named, Purpose, meaning};
use super::filter::ARCHITECTURE;
use super::interpreter;
use super::kernel::{Call, read_memory};
use super::notes::{Finding, Use};
use super::places::{Places, goes_up};
use super::resolve::{Kind, all_below, as_path, resolve};

/// The longest path, with its end, that the kernel takes.
const LONGEST: usize = 4096;
const PAGE: u64 = 4096;
/// Scripts whose interpreters are scripts: the kernel gives up after this many.
const MOST_INTERPRETERS: usize = 5;
/// The largest folder that a test may rename and stay understood.
const MOST_GIVEN: usize = 20_000;

/// From here on nothing is known of the test.
#[derive(Debug)]
pub(super) struct Lost;

/// Adds what a call looks at in these places.
pub(super) fn examine(
    call: &Call,
    places: &Places,
    findings: &mut Vec<Finding>,
) -> Result<(), Lost> {
    if call.architecture != ARCHITECTURE {
        return Err(Lost);
    }
    match meaning(call.number) {
        None | Some(Meaning::Unfollowable) => Err(Lost),
        Some(Meaning::Mapping) => {
            mapping(call, places, findings);
            Ok(())
        }
        Some(Meaning::Socket(purpose)) => socket(call, purpose, places, findings),
        Some(Meaning::Path(named)) => path(call, named, places, findings),
        Some(Meaning::Paths(first, second)) => {
            path(call, first, places, findings)?;
            path(call, second, places, findings)
        }
    }
}

fn path(
    call: &Call,
    named: Named,
    places: &Places,
    findings: &mut Vec<Finding>,
) -> Result<(), Lost> {
    let mut buffer = [0; LONGEST];
    let address = call.arguments.get(named.path).copied().unwrap_or(0);
    match text(call.thread, address, &mut buffer)? {
        Some(text) => meet(call, text, named.folder, named.purpose, places, findings),
        None => Ok(()),
    }
}

/// A socket whose address is a file: a family, and then a path.
fn socket(
    call: &Call,
    purpose: Purpose,
    places: &Places,
    findings: &mut Vec<Finding>,
) -> Result<(), Lost> {
    const FAMILY: usize = 2;
    let mut address = [0; FAMILY + 108];
    let length = usize::try_from(call.arguments[2]).unwrap_or(0);
    let length = length.min(address.len());
    let read = match read_memory(call.thread, call.arguments[1], &mut address[..length]) {
        Ok(read) => read,
        Err(error) if is_refusal(&error) => return Err(Lost),
        Err(_) => return Ok(()),
    };
    let is_file = read > FAMILY && address[..FAMILY] == (libc::AF_UNIX as u16).to_ne_bytes();
    let path = address[FAMILY.min(read)..read]
        .split(|byte| *byte == 0)
        .next();
    match path.filter(|path| is_file && !path.is_empty()) {
        Some(path) => meet(call, path, None, purpose, places, findings),
        None => Ok(()),
    }
}

/// Adds what is met at a path that a call names.
fn meet(
    call: &Call,
    path: &[u8],
    base: Option<usize>,
    purpose: Purpose,
    places: &Places,
    findings: &mut Vec<Finding>,
) -> Result<(), Lost> {
    let Some(Intention {
        used,
        follows,
        makes,
    }) = intention(call, purpose)?
    else {
        return Ok(());
    };
    if tells_names(path) {
        findings.push(Finding {
            thread: call.thread,
            used: Use::Learn,
            met: resolve(path, call.thread, false),
        });
    }
    let Some(path) = full_path(call, path, base, places) else {
        return Ok(());
    };
    if makes && used != Use::Replace {
        findings.push(Finding {
            thread: call.thread,
            used: Use::Replace,
            met: resolve(&path, call.thread, follows),
        });
    }
    let is_program = matches!(purpose, Purpose::Execute(_));
    look(call, path, (used, follows, is_program), places, findings)
}

/// What is wanted of a file.
struct Intention {
    used: Use,
    /// A link at the end is followed.
    follows: bool,
    /// It is made if it is not there.
    makes: bool,
}

/// What a call wants; nothing, if it fails whatever is there.
fn intention(call: &Call, purpose: Purpose) -> Result<Option<Intention>, Lost> {
    let argument = |index: usize| call.arguments.get(index).copied().unwrap_or(0);
    let follows = |last| match last {
        Last::Followed => true,
        Last::Kept => false,
        Last::KeptIf(index, bit) => argument(index) & bit == 0,
        Last::FollowedIf(index, bit) => argument(index) & bit != 0,
    };
    let wanted = |used, follows, makes| {
        Some(Intention {
            used,
            follows,
            makes,
        })
    };
    Ok(match purpose {
        Purpose::Look(last) => wanted(Use::Look, follows(last), false),
        Purpose::Execute(last) => wanted(Use::Execute, follows(last), false),
        Purpose::Give(last) => wanted(Use::Give, follows(last), false),
        Purpose::Make => wanted(Use::Look, false, true),
        Purpose::Replace(flags) if flags.is_none_or(|flags| argument(flags) == 0) => {
            wanted(Use::Replace, false, true)
        }
        Purpose::Replace(_) => wanted(Use::Look, false, true),
        Purpose::OpenWith(flags) => Some(opening(flags as u64)),
        Purpose::Open(flags) => Some(opening(argument(flags))),
        Purpose::OpenHow(structure) => {
            // `struct open_how`: flags, mode, resolve.
            let mut how = [0; 24];
            let read = read_memory(call.thread, argument(structure), &mut how);
            let number = |at: usize| {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(&how[at..at + 8]);
                u64::from_ne_bytes(bytes)
            };
            match read {
                Ok(24) if number(16) & libc::RESOLVE_IN_ROOT != 0 => return Err(Lost),
                Ok(24) => Some(opening(number(0))),
                // The call will fail for the same reason.
                Ok(_) => None,
                Err(error) if is_refusal(&error) => return Err(Lost),
                Err(_) => None,
            }
        }
    })
}

fn opening(flags: u64) -> Intention {
    let has = |flag: libc::c_int| flags & flag as u64 == flag as u64;
    let makes = has(libc::O_CREAT);
    let is_new = makes && has(libc::O_EXCL);
    let follows = !is_new && !has(libc::O_NOFOLLOW);
    let wanted = |used, makes| Intention {
        used,
        follows,
        makes,
    };
    if has(libc::O_PATH) {
        return wanted(Use::Execute, false);
    }
    if has(libc::O_TRUNC) && makes && !is_new {
        return wanted(Use::Replace, makes);
    }
    let writes = flags & libc::O_ACCMODE as u64 == libc::O_WRONLY as u64;
    let is_content_ignored = writes || has(libc::O_TMPFILE) || has(libc::O_TRUNC);
    let used = if is_content_ignored {
        Use::Look
    } else {
        Use::Read
    };
    wanted(used, makes)
}

fn look(
    call: &Call,
    path: Vec<u8>,
    (used, follows, is_program): (Use, bool, bool),
    places: &Places,
    findings: &mut Vec<Finding>,
) -> Result<(), Lost> {
    let thread = call.thread;
    let mut path = path;
    for _ in 0..MOST_INTERPRETERS {
        let met = resolve(&path, thread, follows);
        let (kind, resolved) = (met.kind, met.resolved.clone());
        let is_inspected = used == Use::Read && places.contain(&resolved) && reads_code(thread);
        let used = if is_inspected { Use::Inspect } else { used };
        findings.push(Finding { thread, used, met });
        if used == Use::Give && kind == Some(Kind::Folder) && places.contain(&resolved) {
            let all = all_below(&resolved, MOST_GIVEN).ok_or(Lost)?;
            findings.extend(all.into_iter().map(|met| Finding { thread, used, met }));
        }
        if !is_program || kind != Some(Kind::File) {
            break;
        }
        match interpreter::of(&resolved) {
            Some(name) if name.starts_with(b"/") => path = name,
            Some(name) => {
                let Some(folder) = folder(call, None) else {
                    break;
                };
                path = joined(folder, &name);
            }
            None => break,
        }
        if places.are_far_from(&path) {
            break;
        }
    }
    Ok(())
}

/// Whether a process is a tool of valgrind's, which executes a program in its own way, and reads it and its libraries for the
/// names in its messages.
fn reads_code(thread: u32) -> bool {
    let link = format!("/proc/{thread}/exe");
    let program = std::fs::read_link(link).unwrap_or_default();
    let folder = program.parent().and_then(Path::file_name);
    let name = program.file_name().map(OsStrExt::as_bytes);
    folder == Some(OsStr::new("valgrind")) && name.is_some_and(|name| name.ends_with(b"-linux"))
}

fn mapping(call: &Call, places: &Places, findings: &mut Vec<Finding>) {
    if let Some(path) = folder(call, Some(4))
        && places.contain(&path)
    {
        let met = resolve(&path, call.thread, true);
        findings.push(Finding {
            thread: call.thread,
            used: Use::Load,
            met,
        });
    }
}

/// Whether the system tells at a path what a process has opened or loaded, by the names behind all links.
fn tells_names(path: &[u8]) -> bool {
    let Some(inside) = path.strip_prefix(b"/proc/") else {
        return false;
    };
    let mut parts = inside.split(|byte| *byte == b'/').skip(1);
    parts.any(|part| {
        [
            &b"maps"[..],
            b"smaps",
            b"numa_maps",
            b"map_files",
            b"fd",
            b"exe",
        ]
        .contains(&part)
    })
}

/// The absolute path that a call names; nothing, if it leads nowhere near.
fn full_path(call: &Call, path: &[u8], base: Option<usize>, places: &Places) -> Option<Vec<u8>> {
    if path.starts_with(b"/") {
        return (!places.are_far_from(path)).then(|| path.to_vec());
    }
    let folder = folder(call, base)?;
    // The folder may be far away, with a path that goes up from there.
    let is_far = places.are_far_from(&folder) && !goes_up(path);
    (!is_far).then(|| joined(folder, path))
}

fn joined(mut folder: Vec<u8>, path: &[u8]) -> Vec<u8> {
    if !path.is_empty() {
        folder.push(b'/');
        folder.extend(path);
    }
    folder
}

/// The path of the folder or file in an argument, or of the working folder.
fn folder(call: &Call, argument: Option<usize>) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt;

    let descriptor = argument.and_then(|index| call.arguments.get(index));
    // Descriptors are 32 bits wide; the rest of the register may hold anything.
    let descriptor = descriptor.map_or(libc::AT_FDCWD, |value| *value as i32);
    let link = if descriptor == libc::AT_FDCWD {
        format!("/proc/{}/cwd", call.thread)
    } else {
        format!("/proc/{}/fd/{descriptor}", call.thread)
    };
    let target = std::fs::read_link(as_path(link.as_bytes())).ok()?;
    // Pipes, sockets and what has no name.
    target
        .is_absolute()
        .then(|| target.into_os_string().into_vec())
}

/// A text in the memory of the caller; nothing, if there is none, and then the call fails.
fn text(thread: u32, address: u64, buffer: &mut [u8; LONGEST]) -> Result<Option<&[u8]>, Lost> {
    let mut length = 0;
    while length < LONGEST {
        let from = address.wrapping_add(length as u64);
        // What comes after the page may not be there. Most texts are short, and end much earlier.
        let most = if length == 0 { 256 } else { LONGEST - length };
        let chunk = usize::try_from(PAGE - from % PAGE)
            .unwrap_or(LONGEST)
            .min(most);
        let read = match read_memory(thread, from, &mut buffer[length..length + chunk]) {
            Ok(read) if read > 0 => read,
            Err(error) if is_refusal(&error) => return Err(Lost),
            _ => return Ok(None),
        };
        let end = buffer[length..length + read]
            .iter()
            .position(|byte| *byte == 0);
        if let Some(end) = end {
            return Ok(Some(&buffer[..length + end]));
        }
        length += read;
    }
    Ok(None)
}

/// We may not look into that process: it has other rights than we have.
fn is_refusal(error: &std::io::Error) -> bool {
    !matches!(error.raw_os_error(), Some(libc::EFAULT | libc::ESRCH))
}
