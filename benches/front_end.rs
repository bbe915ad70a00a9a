//! `git rts diff` beside `ctags -R` and `git diff --stat`, as ratios in one run: `cargo bench`.
//!
//! Without an argument it measures generated trees of four sizes; `cargo bench -- PATH` measures the repository at PATH,
//! whose HEAD~1 must exist. `ctags` is Universal Ctags; it uses one thread, `git rts` all cores.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Each command is timed this often, and the best time counts.
const RUNS: usize = 3;
const SIZES: [usize; 4] = [75_000, 150_000, 300_000, 600_000];

fn main() {
    let path = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"));
    println!(
        "| tree | lines | ctags -R | cold diff | /ctags | all facts | /ctags | peak MB | git diff --stat | warm diff | /git diff |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    match path {
        Some(path) => measure(Path::new(&path)),
        None => {
            for lines in SIZES {
                let folder = tempfile::tempdir().expect("a temporary folder");
                generate(folder.path(), lines);
                measure(folder.path());
            }
        }
    }
}

fn measure(repository: &Path) {
    let git_rts = env!("CARGO_BIN_EXE_git-rts");
    let cache = repository.join(".git/rts");
    let forget = || {
        let _ = std::fs::remove_dir_all(&cache);
    };
    let ctags = best(
        || (),
        || command(repository, "ctags", &["-R", "-f", "/dev/null", "."]),
    );
    let cold = best(forget, || {
        command(repository, git_rts, &["diff", "HEAD~1", "HEAD"])
    });
    let facts = best(forget, || command(repository, git_rts, &["survey", "HEAD"]));
    let peak = peak_memory(repository, git_rts);
    let warm = best(|| (), || command(repository, git_rts, &["diff", "HEAD~1"]));
    let stat = best(
        || (),
        || command(repository, "git", &["diff", "--stat", "HEAD~1"]),
    );
    let ratio = |one: Duration, two: Duration| one.as_secs_f64() / two.as_secs_f64();
    println!(
        "| {} | {} | {:.3} s | {:.3} s | {:.2} | {:.3} s | {:.2} | {} | {:.3} s | {:.3} s | {:.2} |",
        repository.file_name().unwrap_or_default().to_string_lossy(),
        lines_of(repository, git_rts),
        ctags.as_secs_f64(),
        cold.as_secs_f64(),
        ratio(cold, ctags),
        facts.as_secs_f64(),
        ratio(facts, ctags),
        peak,
        stat.as_secs_f64(),
        warm.as_secs_f64(),
        ratio(warm, stat),
    );
}

fn command(folder: &Path, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn best(before: impl Fn(), command: impl Fn() -> Command) -> Duration {
    let time = || {
        before();
        let started = Instant::now();
        let status = command().status().expect("the program can be started");
        assert!(status.success(), "{:?} fails", command());
        started.elapsed()
    };
    (0..RUNS)
        .map(|_| time())
        .min()
        .expect("there is at least one run")
}

/// The most memory that building all facts takes, in MB, as GNU time tells it.
fn peak_memory(repository: &Path, git_rts: &str) -> String {
    let _ = std::fs::remove_dir_all(repository.join(".git/rts"));
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%M", git_rts, "survey", "HEAD"])
        .current_dir(repository)
        .output();
    let Ok(output) = output else {
        return "?".to_owned();
    };
    let text = String::from_utf8_lossy(&output.stderr);
    let kilobytes = text
        .lines()
        .last()
        .and_then(|line| line.parse::<u64>().ok());
    kilobytes.map_or("?".to_owned(), |kilobytes| (kilobytes / 1024).to_string())
}

fn lines_of(repository: &Path, git_rts: &str) -> u64 {
    let output = Command::new(git_rts)
        .args(["survey", "HEAD", "--format", "json"])
        .current_dir(repository)
        .output()
        .expect("the survey can be started");
    let survey: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("the survey is JSON");
    survey["totals"]["lines"].as_u64().unwrap_or_default()
}

/// Writes a project of about so many lines and commits it twice: the second commit changes one function.
fn generate(folder: &Path, lines: usize) {
    let functions = 20;
    let files = lines / (functions * 28);
    std::fs::create_dir_all(folder.join("src")).expect("the folder can be made");
    let mut header = String::from(
        "#ifndef COMMON_H\n#define COMMON_H\n#define CHECK(x) do { if (!(x)) return -1; } while (0)\n",
    );
    for file in 0..files {
        let _ = writeln!(header, "int work_{file}_0(struct state *state, int value);");
        std::fs::write(
            folder.join(format!("src/file_{file}.c")),
            source(file, functions),
        )
        .expect("a file can be written");
    }
    header.push_str("struct state { int count; char name[64]; };\n#endif\n");
    std::fs::write(folder.join("src/common.h"), header).expect("a file can be written");
    let git = |arguments: &[&str]| {
        let status = Command::new("git")
            .args([
                "-c",
                "user.name=Bench",
                "-c",
                "user.email=bench@localhost",
                "-c",
                "gc.auto=0",
            ])
            .args(arguments)
            .current_dir(folder)
            .stdout(Stdio::null())
            .status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "git {arguments:?} fails"
        );
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "base"]);
    let changed = source(0, functions).replacen("value + 3", "value + 4", 1);
    std::fs::write(folder.join("src/file_0.c"), changed).expect("a file can be written");
    git(&["commit", "-qam", "head"]);
    git(&["repack", "-adq"]);
}

fn source(file: usize, functions: usize) -> String {
    let mut text = String::from("#include \"common.h\"\n\n");
    for function in 0..functions {
        let _ = write!(
            text,
            r#"/* Handles case {function} of part {file}. */
int work_{file}_{function}(struct state *state, int value)
{{
    int index, total = 0;

    CHECK(state != 0);
    for (index = 0; index < value && index < 100; index++) {{
        if (index % {divisor} == 0 || state->count > value) {{
            total += helper_{file}(state, index);
        }} else if (state->name[index & 63] == 'x') {{
            state->name[index & 63] = (char)(value + 3);
        }} else {{
            total -= index > 10 ? index : value;
        }}
    }}
    switch (total & 3) {{
    case 0:
        state->count++;
        break;
    case 1:
        return log_message("total of part {file} is %d", total);
    default:
        break;
    }}
    return total + {function};
}}

"#,
            divisor = function + 2,
        );
    }
    text
}
