//! Ten commits in a row, of which each is only run: the history is what recording each of them in full would have been.

#![allow(clippy::unwrap_used, clippy::panic)]

mod test_repo;

use serde_json::Value;

use test_repo::TestRepo;

const CONFIG: &str = "[build]\ncommand = \"cc -O1 -o prog main.c lib.c\"\n[tests]\nrunner = \"command\"\n\
    list = \"printf '%s\\\\n' add mul sign loop none\"\nrun = \"./prog {test}\"\n";

const HEADER: &str = "#define LIMIT 3\nenum op { ADD, MUL };\nstruct pair { int a, b; };\n\
    int apply(enum op op, struct pair *pair);\nint sign(int x);\nint loop(int n);\n";

const LIBRARY: &str = "#include \"lib.h\"\nint apply(enum op op, struct pair *pair)\n{\n    switch (op) {\n    case ADD:\n        return pair->a + pair->b;\n    case MUL:\n        return pair->a * pair->b;\n    }\n    return 0;\n}\n\
    int sign(int x)\n{\n    if (x < 0)\n        return -1;\n    return x > 0;\n}\n\
    int loop(int n)\n{\n    int sum = 0;\n    for (int i = 0; i < n && i < LIMIT; i++)\n        sum += i ? i : 1;\n    return sum;\n}\n";

const MAIN: &str = "#include <string.h>\n#include \"lib.h\"\nint main(int argc, char **argv)\n{\n    struct pair pair = { 2, 3 };\n    if (argc < 2)\n        return 2;\n    if (!strcmp(argv[1], \"add\"))\n        return apply(ADD, &pair) != 5;\n    if (!strcmp(argv[1], \"mul\"))\n        return apply(MUL, &pair) != 6;\n    if (!strcmp(argv[1], \"sign\"))\n        return sign(4) != 1;\n    if (!strcmp(argv[1], \"loop\"))\n        return loop(9) == 0;\n    return 0;\n}\n";

/// A file, what is taken out of it, what is put in, and how many tests can notice.
const EDITS: [(&str, &str, &str, usize); 10] = [
    ("lib.c", "return -1;", "return -2;", 0),
    (
        "lib.c",
        "    int sum = 0;",
        "    /* the sum */\n    int sum = 0;",
        0,
    ),
    (
        "lib.c",
        "        return pair->a * pair->b;",
        "        if (pair->a == 0)\n            return 0;\n        return pair->a * pair->b;",
        1,
    ),
    ("lib.h", "#define LIMIT 3", "#define LIMIT 4", 1),
    (
        "lib.c",
        "int sign(int x)\n{\n    if (x < 0)",
        "static int unused(void)\n{\n    return 7;\n}\nint sign(int x)\n{\n    if (x < -100)\n        return -3;\n    if (x < 0)",
        1,
    ),
    (
        "main.c",
        "        return sign(4) != 1;",
        "        return sign(5) != 1;",
        1,
    ),
    ("lib.c", "return -3;", "return unused() - 10;", 0),
    (
        "lib.c",
        "    case MUL:\n",
        "    case MUL:\n        /* the product */\n",
        0,
    ),
    (
        "lib.c",
        "    return 0;\n}\nstatic",
        "    return 9;\n}\nstatic",
        0,
    ),
    (
        "lib.h",
        "struct pair { int a, b; };",
        "struct pair { long a, b; };",
        5,
    ),
];

/// What every test did, as the history has it.
fn traces(repo: &TestRepo) -> Vec<Value> {
    ["add", "mul", "sign", "loop", "none"]
        .map(|test| {
            let shown = repo.json(&["history", "show", test, "HEAD", "--format", "json"]);
            serde_json::json!([shown["test"], shown["outcome"], shown["functions"]])
        })
        .to_vec()
}

/// The same tests, outcomes and functions, and no edge that is not in the other.
fn is_within(carried: &[Value], in_full: &[Value]) -> bool {
    let names = |traces: &[Value]| -> Vec<(Value, Value, Vec<Value>)> {
        let parts = traces.iter().map(|trace| {
            let functions = trace[2].as_array().unwrap().iter();
            let names = functions.map(|function| function["name"].clone()).collect();
            (trace[0].clone(), trace[1].clone(), names)
        });
        parts.collect()
    };
    let edges = |trace: &Value| -> Vec<Vec<Value>> {
        let functions = trace[2].as_array().unwrap().iter();
        functions
            .map(|function| function["edges"].as_array().cloned().unwrap_or_default())
            .collect()
    };
    names(carried) == names(in_full)
        && carried.iter().zip(in_full).all(|(one, two)| {
            let mut pairs = edges(one).into_iter().zip(edges(two));
            pairs.all(|(one, two)| one.iter().all(|edge| two.contains(edge)))
        })
}

#[test]
fn ten_commits_that_were_only_run_are_known_as_if_each_had_been_recorded() {
    // By lines alone, gcov cannot tell that a new branch on a line was not taken; who carries a trace over can.
    for (backend, edits) in [("llvm", &EDITS[..]), ("gcov", &EDITS[..3])] {
        let (run, recorded) = (TestRepo::new(), TestRepo::new());
        let mut files = [
            (".git-rts.toml", CONFIG.to_owned()),
            ("lib.h", HEADER.to_owned()),
            ("lib.c", LIBRARY.to_owned()),
            ("main.c", MAIN.to_owned()),
        ];
        let config = format!("{CONFIG}[coverage]\nbackend = \"{backend}\"\n");
        files[0].1 = config;
        let commit = |files: &[(&str, String); 4]| {
            let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
            run.commit(&files);
            recorded.commit(&files);
        };
        commit(&files);
        assert!(run.rts(&["run"]).status.success());
        for (number, (path, from, to, noticing)) in edits.iter().enumerate() {
            let (_, text) = files.iter_mut().find(|(name, _)| name == path).unwrap();
            assert!(text.contains(from), "edit {number} does not fit");
            *text = text.replacen(from, to, 1);
            commit(&files);
            let output = run.rts(&["run", "HEAD~1"]);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "edit {number}: {said}");
            if backend == "llvm" {
                let expected = format!("{noticing} of 5 tests");
                assert!(said.contains(&expected), "edit {number}: {said}");
            }
            assert!(recorded.rts(&["record"]).status.success());
            let (carried, in_full) = (traces(&run), traces(&recorded));
            match backend {
                "llvm" => assert_eq!(carried, in_full, "edit {number}"),
                _ => assert!(
                    is_within(&carried, &in_full),
                    "edit {number}: {carried:?}, {in_full:?}"
                ),
            }
        }
    }
}
