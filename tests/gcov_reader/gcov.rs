//! The oracle: what `gcov --json-format` says of a run, and the same said by us.
//!
//! `gcov` counts a line by the blocks that end on it, if there are any, and forgets the others. So it misses executed lines: in `result = a && b` after an `if`, the block that begins there may end further down. We do not follow it, but to compare we must do the same.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use git_rts::coverage::gcov::collect::Collected;
use git_rts::coverage::gcov::notes::{ENTRY, Function};
use git_rts::coverage::gcov::solve::solve;

use crate::program::Run;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// By object, name and line of the beginning: how often it was entered.
    pub(crate) functions: BTreeMap<(String, String, u64), i64>,
    /// By object, file and line: whether it was executed, and whether it has a block that was not.
    pub(crate) lines: BTreeMap<(String, String, u64), (bool, bool)>,
}

impl Report {
    fn line(&mut self, key: (String, String, u64), executed: bool, unexecuted: bool) {
        let entry = self.lines.entry(key).or_default();
        entry.0 |= executed;
        entry.1 |= unexecuted;
    }
}

/// The objects whose data lie in the folder of a run.
fn objects(run: &Run) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(run.data_folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "gcda")
        })
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

pub(crate) fn theirs(run: &Run) -> Report {
    let mut report = Report::default();
    for object in objects(run) {
        // gcov looks for the notes beside the data.
        let place = tempfile::tempdir().unwrap();
        let (notes, data) = run.files(&object);
        std::fs::write(place.path().join("it.gcno"), notes).unwrap();
        std::fs::write(place.path().join("it.gcda"), data).unwrap();
        let json = call(run, place.path());
        for file in json["files"].as_array().unwrap() {
            let name = file["file"].as_str().unwrap();
            for function in file["functions"].as_array().unwrap() {
                let key = (
                    object.clone(),
                    function["name"].as_str().unwrap().to_owned(),
                    function["start_line"].as_u64().unwrap(),
                );
                let count = function["execution_count"].as_i64().unwrap();
                report.functions.insert(key, count);
            }
            for line in file["lines"].as_array().unwrap() {
                let key = (
                    object.clone(),
                    name.to_owned(),
                    line["line_number"].as_u64().unwrap(),
                );
                let executed = line["count"].as_i64().unwrap() > 0;
                report.line(key, executed, line["unexecuted_block"].as_bool().unwrap());
            }
        }
    }
    report
}

fn call(run: &Run, folder: &Path) -> serde_json::Value {
    let mut command = Command::new(run.compiler.gcov);
    command.args(["--json-format", "-t", "it.gcda"]);
    let output = run
        .compiler
        .call(run.compiler.gcov, command.current_dir(folder));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What we know, put together the way `gcov` does.
pub(crate) fn ours(run: &Run, collected: &Collected) -> Report {
    let mut report = Report::default();
    for (name, object) in objects(run).into_iter().zip(&collected.objects) {
        let (_, data) = run.pair(&name);
        let notes = &object.notes;
        let mut lines: BTreeMap<(Option<usize>, u32, u32), LineInfo> = BTreeMap::new();
        for counted in &data.functions {
            let number = notes.find(counted.identity).unwrap();
            let function = &notes.functions[number];
            let flow = solve(function, &counted.counters).unwrap();
            let key = (
                name.clone(),
                function.name.clone(),
                u64::from(function.start_line),
            );
            report.functions.insert(key, flow.blocks[ENTRY as usize]);
            // Functions that begin on one line keep their lines apart.
            let place = |function: &Function| (function.file, function.start_line);
            let alike = notes
                .functions
                .iter()
                .filter(|other| place(other) == place(function));
            let group = alike.count() > 1;
            for location in function
                .lines
                .chunk_by(|one, two| (one.block, one.file) == (two.block, two.file))
            {
                let count = flow.blocks[location[0].block as usize];
                let last = location.iter().map(|line| line.line).max();
                for line in location {
                    let own = (function.start_line..=function.end_line).contains(&line.line);
                    let own = group && own && line.file == function.file;
                    let info = lines
                        .entry((own.then_some(number), line.file, line.line))
                        .or_default();
                    info.any |= count > 0;
                    info.unexecuted |= count == 0;
                    if Some(line.line) == last {
                        info.last |= count > 0;
                        info.is_last = true;
                    }
                }
            }
        }
        for ((_, file, line), info) in lines {
            let file = String::from_utf8(notes.files[file as usize].clone()).unwrap();
            // A line that is the last of some block is counted by these blocks alone.
            let executed = if info.is_last { info.last } else { info.any };
            report.line(
                (name.clone(), file, u64::from(line)),
                executed,
                info.unexecuted,
            );
        }
    }
    report
}

#[derive(Default)]
struct LineInfo {
    any: bool,
    is_last: bool,
    last: bool,
    unexecuted: bool,
}
