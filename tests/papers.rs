//! The papers' own examples, through the whole C front end and both walks.
//!
//! A comment before a statement gives the node its name of the figure; comments are not part of a node's label.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use git_rts::compare::affected::Affected;
use git_rts::compare::functions::{FilePair, compare_functions};
use git_rts::compare::select_inter_tests::{
    ProcTable, Procedure, Program, Status, select_inter_tests,
};
use git_rts::compare::select_tests::{SameTokens, Walk, select_tests};
use git_rts::digest::Name;
use git_rts::lang::c::macros::MacroTable;
use git_rts::lang::c::{Granularity, file_facts};
use git_rts::lang::cfg::{Cfg, ENTRY, EXIT, Label, Node, NodeKind};
use git_rts::lang::facts::{FileFacts, Flow};

fn facts(text: &str) -> FileFacts {
    file_facts(
        text.as_bytes(),
        &MacroTable::default(),
        Granularity::Statement,
    )
}

/// A function as a figure shows it: its text and its graph.
struct Figure {
    text: String,
    cfg: Cfg,
}

impl Figure {
    fn of(text: &str, function: &str) -> Self {
        let entity = facts(text)
            .entities
            .into_iter()
            .find(|entity| entity.name == function && entity.body.is_some())
            .unwrap();
        match entity.body.unwrap().flow {
            Flow::Edges(cfg) => Figure {
                text: text.to_owned(),
                cfg,
            },
            Flow::Whole(reason) => panic!("{function} has no graph: {reason}"),
        }
    }

    /// The name that the figure gives to a node.
    fn name(&self, node: usize) -> &str {
        let Node { kind, span, .. } = &self.cfg.nodes[node];
        match kind {
            NodeKind::Entry => "entry",
            NodeKind::Exit => "exit",
            NodeKind::Header => "D",
            _ => {
                let before = &self.text[..span.start as usize];
                let comment = &before[before.rfind("/*").unwrap() + 2..];
                comment[..comment.find("*/").unwrap()].trim()
            }
        }
    }

    fn edge(&self, index: usize) -> String {
        let edge = &self.cfg.edges[index];
        let (from, to) = (self.name(edge.from as usize), self.name(edge.to as usize));
        match edge.label.text().as_str() {
            "" => format!("({from}, {to})"),
            label => format!("({from}, {to}) {label}"),
        }
    }

    fn edges(&self) -> BTreeSet<String> {
        (0..self.cfg.edges.len())
            .map(|index| self.edge(index))
            .collect()
    }

    fn dangerous(&self, walk: &Walk) -> Vec<String> {
        let mut edges: Vec<String> = walk.dangerous.iter().map(|edge| self.edge(*edge)).collect();
        edges.sort();
        edges
    }

    /// The edges that an execution crosses, in order, when the predicates come out like this.
    fn execution(&self, mut outcomes: impl FnMut(&str) -> bool) -> Vec<usize> {
        let mut crossed = Vec::new();
        let mut node = ENTRY;
        while node != EXIT {
            let label = match self.cfg.nodes[node].kind {
                NodeKind::Predicate if outcomes(self.name(node)) => Label::True,
                NodeKind::Predicate => Label::False,
                _ => Label::Next,
            };
            let (index, edge) = self
                .cfg
                .successors(node)
                .find(|(_, edge)| edge.label == label)
                .unwrap();
            crossed.push(index);
            node = edge.to as usize;
        }
        crossed
    }
}

/// Walks a function of two texts.
fn walk(base: &str, head: &str, function: &str) -> (Figure, Figure, Walk) {
    let (base, head) = (Figure::of(base, function), Figure::of(head, function));
    let walk = select_tests(&base.cfg, &head.cfg, &SameTokens);
    (base, head, walk)
}

fn dangerous(base: &str, head: &str, function: &str) -> Vec<String> {
    let (base, _, walk) = walk(base, head, function);
    base.dangerous(&walk)
}

fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "'{from}' names one place");
    text.replacen(from, to, 1)
}

/// Fig. 1.
const AVG: &str = r#"
int avg(FILE *fileptr)
{
    int count, n, avg;
    int numarray[100];
    /*S1*/ count = 0;
    /*S2*/ fread(&n, sizeof(int), 1, fileptr);
    /*P3*/ while (!feof(fileptr)) {
        /*P4*/ if (n < 0)
            /*S5*/ return error;
        else {
            /*S6*/ numarray[count] = n;
            /*S7*/ count++;
        }
        /*S8*/ fread(&n, sizeof(int), 1, fileptr);
    }
    /*S9*/ avg = calcavg(numarray, count);
    /*S10*/ return avg;
}
"#;

/// Table I: what t1 (an empty file), t2 (-1) and t3 (1 2 3) make of the predicates.
fn table_i(figure: &Figure) -> [(&'static str, Vec<usize>); 3] {
    let execute = |numbers: &[i32]| {
        let mut numbers = numbers.iter().copied();
        let mut number = numbers.next();
        figure.execution(|predicate| match predicate {
            "P3" => number.is_some(),
            "P4" => {
                let negative = number.unwrap() < 0;
                number = numbers.next();
                negative
            }
            other => panic!("avg has no predicate {other}"),
        })
    };
    [
        ("t1", execute(&[])),
        ("t2", execute(&[-1])),
        ("t3", execute(&[1, 2, 3])),
    ]
}

/// The tests of Table I that cross a dangerous edge between `avg` and this version of it.
fn selected_of_avg(head: &str) -> (Vec<String>, Vec<&'static str>) {
    let (base, _, walk) = walk(AVG, head, "avg");
    let selected = table_i(&base)
        .into_iter()
        .filter(|(_, trace)| trace.iter().any(|edge| walk.dangerous.contains(edge)))
        .map(|(test, _)| test)
        .collect();
    (base.dangerous(&walk), selected)
}

fn without_s7() -> String {
    changed(AVG, "/*S7*/ count++;", "")
}

fn with_s5a(text: &str) -> String {
    changed(
        text,
        "/*S5*/ return error;",
        "{ /*S5a*/ printf(\"bad input\"); /*S5*/ return error; }",
    )
}

#[test]
fn avg_has_the_nodes_and_edges_of_fig_1() {
    let figure = Figure::of(AVG, "avg");
    assert_eq!(figure.cfg.nodes.len(), 13);
    let expected = [
        "(entry, D)",
        "(D, S1)",
        "(S1, S2)",
        "(S2, P3)",
        "(P3, P4) T",
        "(P3, S9) F",
        "(P4, S5) T",
        "(P4, S6) F",
        "(S5, exit)",
        "(S6, S7)",
        "(S7, S8)",
        "(S8, P3)",
        "(S9, S10)",
        "(S10, exit)",
    ];
    assert_eq!(figure.edges(), expected.map(str::to_owned).into());
    assert_eq!(figure.cfg.edges.len(), expected.len());
    assert!(!figure.cfg.hidden_jumps);
}

#[test]
fn the_tests_of_table_i_cross_its_edges() {
    let figure = Figure::of(AVG, "avg");
    let all = [
        ("(entry, D)", "111"),
        ("(D, S1)", "111"),
        ("(S1, S2)", "111"),
        ("(S2, P3)", "111"),
        ("(P3, P4) T", "011"),
        ("(P3, S9) F", "101"),
        ("(P4, S5) T", "010"),
        ("(P4, S6) F", "001"),
        ("(S5, exit)", "010"),
        ("(S6, S7)", "001"),
        ("(S7, S8)", "001"),
        ("(S8, P3)", "001"),
        ("(S9, S10)", "101"),
        ("(S10, exit)", "101"),
    ];
    let tests = table_i(&figure);
    for index in 0..figure.cfg.edges.len() {
        let bits: String = tests
            .iter()
            .map(|(_, trace)| if trace.contains(&index) { '1' } else { '0' })
            .collect();
        let edge = figure.edge(index);
        let (_, expected) = all.iter().find(|(name, _)| *name == edge).unwrap();
        assert_eq!(bits, *expected, "{edge}");
    }
}

#[test]
fn avg2_endangers_the_edges_into_s5_and_s7() {
    let (edges, tests) = selected_of_avg(&with_s5a(&without_s7()));
    assert_eq!(edges, ["(P4, S5) T", "(S6, S7)"]);
    assert_eq!(tests, ["t2", "t3"]);
}

#[test]
fn without_s7_alone_only_t3_is_selected() {
    let (edges, tests) = selected_of_avg(&without_s7());
    assert_eq!(edges, ["(S6, S7)"]);
    assert_eq!(tests, ["t3"]);
}

#[test]
fn with_s5a_alone_only_t2_is_selected_and_p3_is_compared_once() {
    let head = with_s5a(AVG);
    let (edges, tests) = selected_of_avg(&head);
    assert_eq!(edges, ["(P4, S5) T"]);
    assert_eq!(tests, ["t2"]);
    let (base, head, walk) = walk(AVG, &head, "avg");
    let at = |name: &str| {
        walk.visited
            .iter()
            .filter(|(node, _)| base.name(*node) == name)
            .map(|(_, partner)| head.name(*partner))
            .collect::<Vec<_>>()
    };
    assert_eq!(at("P3"), ["P3"]);
    assert_eq!(at("S8"), ["S8"]);
    assert!(!walk.is_multiply_visited());
    // All nodes but S5.
    assert_eq!(walk.calls, base.cfg.nodes.len() - 1);
}

#[test]
fn a_changed_predicate_endangers_the_edge_into_it() {
    for head in [AVG.to_owned(), with_s5a(&without_s7())] {
        let (edges, tests) = selected_of_avg(&changed(&head, "n < 0", "n > 0"));
        assert_eq!(edges, ["(P3, P4) T"]);
        assert_eq!(tests, ["t2", "t3"]);
    }
}

#[test]
fn a_check_before_everything_endangers_the_edge_from_the_declarations() {
    let head = changed(
        AVG,
        "/*S1*/",
        "/*P0*/ if (fileptr == NULL) /*S0*/ return error; /*S1*/",
    );
    let (edges, tests) = selected_of_avg(&head);
    assert_eq!(edges, ["(D, S1)"]);
    assert_eq!(tests, ["t1", "t2", "t3"]);
    let (_, _, walk) = walk(AVG, &head, "avg");
    assert_eq!(walk.calls, 2, "nothing beyond D and D' is compared");

    // The rest in the arm of the check is the same change.
    let head = changed(AVG, "/*S1*/", "/*P0*/ if (fileptr != NULL) { /*S1*/");
    let head = changed(&head, "return avg;", "return avg; } /*S11*/ return error;");
    assert_eq!(selected_of_avg(&head).0, ["(D, S1)"]);
}

#[test]
fn comments_and_white_space_endanger_nothing() {
    let head = AVG.replace("    ", "\t").replace("n < 0", "n /* - */ <\n0");
    assert_eq!(dangerous(AVG, &head, "avg"), [""; 0]);
}

/// Fig. 4: S4 is reached from both arms; in the head version only S3 still leads there.
#[test]
fn twovisits_compares_a_node_with_each_of_its_partners() {
    let base = r#"
void twovisits(int x)
{
    /*P1*/ if (x == 0)
        /*S2*/ first(x);
    else
        /*S3*/ second(x);
    /*S4*/ printf("1");
}
"#;
    let head = r#"
void twovisits(int x)
{
    /*P1*/ if (x == 0) {
        /*S2*/ first(x);
        goto two;
    } else
        /*S3*/ second(x);
    /*S4*/ printf("1");
    goto end;
two:
    /*S5*/ printf("2");
end:;
}
"#;
    let (before, after, found) = walk(base, head, "twovisits");
    assert_eq!(before.cfg.nodes.len(), 7);
    assert_eq!(after.cfg.nodes.len(), 8, "a goto is no node");
    assert!(after.edges().contains("(S2, S5)"));
    assert_eq!(before.dangerous(&found), ["(S2, S4)"]);
    let instead: Vec<(String, String)> = found
        .instead
        .iter()
        .map(|(edge, other)| (before.edge(*edge), after.edge(*other)))
        .collect();
    assert_eq!(instead, [("(S2, S4)".to_owned(), "(S2, S5)".to_owned())]);
    assert!(
        found
            .paired
            .iter()
            .any(|(edge, other)| before.edge(*edge) == "(S3, S4)"
                && after.edge(*other) == "(S3, S4)")
    );
    let trace = before.execution(|_| true);
    let names: Vec<String> = trace.iter().map(|edge| before.edge(*edge)).collect();
    assert_eq!(
        names,
        [
            "(entry, D)",
            "(D, P1)",
            "(P1, S2) T",
            "(S2, S4)",
            "(S4, exit)"
        ]
    );

    // With the arms the other way round S4 is reached with its equal partner last.
    let swap = |text: &str| text.replace("x == 0", "x != 0");
    let exchange = |text: &str| {
        text.replace("/*S2*/ first", "/*?*/ other")
            .replace("/*S3*/ second", "/*S2*/ first")
            .replace("/*?*/ other", "/*S3*/ second")
    };
    let base = exchange(&swap(base));
    let head = exchange(&swap(head))
        .replace("goto two;", "goto one;")
        .replace("/*S4*/ printf", "goto two; one: /*S4*/ printf");
    assert_eq!(dangerous(&base, &head, "twovisits"), ["(S2, S4)"]);
}

/// Fig. 5. The drawing is lost; this is a pair of graphs for which everything that text and Table II say holds.
const PATHOLOGICAL: &str = r#"
void pathological(int x)
{
again:
    /*P1*/ while (++x < 0) {
        /*P2*/ while (++x < 0) {
            /*P3*/ while (++x < 0)
                goto again;
        }
    }
    /*S4*/ printf("%d", x);
}
"#;

const PATHOLOGICAL_2: &str = r#"
void pathological(int x)
{
again:
    /*P1*/ while (++x < 0) {
        /*P2*/ while (++x < 0)
            goto again;
        /*P3*/ while (++x < 0)
            ;
        /*P4*/ while (++x < 0)
            ;
    }
    /*S5*/ printf("%d", x);
}
"#;

/// The nodes of an execution of `pathological`, and what it prints.
fn pathological_run(figure: &Figure, mut x: i32) -> (Vec<usize>, Vec<u64>, i32) {
    let crossed = figure.execution(|_| {
        x += 1;
        x < 0
    });
    let labels = crossed
        .iter()
        .map(|edge| figure.cfg.nodes[figure.cfg.edges[*edge].to as usize].digest)
        .collect();
    (crossed, labels, x)
}

#[test]
fn pathological_selects_a_test_that_traverses_no_modification() {
    let (base, head, walk) = walk(PATHOLOGICAL, PATHOLOGICAL_2, "pathological");
    // The paper counts without the declaration nodes.
    assert_eq!(base.cfg.nodes.len() - 1, 6);
    assert_eq!(head.cfg.nodes.len() - 1, 7);
    for edge in ["(P1, P2) T", "(P1, S4) F", "(P2, P1) F"] {
        assert!(base.edges().contains(edge), "{edge}");
    }
    for edge in ["(P1, P2) T", "(P2, P3) F", "(P3, P4) F"] {
        assert!(head.edges().contains(edge), "{edge}");
    }

    assert_eq!(walk.calls, 16);
    assert!(walk.is_multiply_visited());
    let pairs: BTreeSet<(&str, &str)> = walk
        .visited
        .iter()
        .map(|(node, partner)| (base.name(*node), head.name(*partner)))
        .collect();
    let mut expected: BTreeSet<(&str, &str)> = [
        ("entry", "entry"),
        ("D", "D"),
        ("S4", "S5"),
        ("exit", "exit"),
    ]
    .into();
    for node in ["P1", "P2", "P3"] {
        expected.extend(["P1", "P2", "P3", "P4"].map(|partner| (node, partner)));
    }
    assert_eq!(pairs, expected);
    assert_eq!(
        base.dangerous(&walk),
        ["(P1, S4) F", "(P2, P1) F", "(P3, P2) F"]
    );

    // Table II.
    let exit = (0..base.cfg.edges.len())
        .find(|edge| base.edge(*edge) == "(P1, S4) F")
        .unwrap();
    let (t1, t1_labels, t1_output) = pathological_run(&base, 0);
    let (t2, t2_labels, t2_output) = pathological_run(&base, -2);
    let (_, head_t1_labels, head_t1_output) = pathological_run(&head, 0);
    let (_, head_t2_labels, head_t2_output) = pathological_run(&head, -2);
    assert!(t1.contains(&exit) && t2.contains(&exit));
    assert_eq!(
        [t1_output, t2_output, head_t1_output, head_t2_output],
        [1, 1, 1, 3]
    );
    assert_eq!(t1_labels, head_t1_labels);
    // Entry, four equal elements with D, and then the fifth of the paper's traces.
    let parts = t2_labels
        .iter()
        .zip(&head_t2_labels)
        .position(|(one, two)| one != two);
    assert_eq!(parts, Some(4));
    assert_eq!((t2_labels.len(), head_t2_labels.len()), (6, 8));
}

#[test]
fn loops_nested_and_in_a_row_reach_fewer_pairs() {
    let plain = |text: &str| text.replace("goto again;", ";").replace("again:", "");
    let (base, _, walk) = walk(&plain(PATHOLOGICAL), &plain(PATHOLOGICAL_2), "pathological");
    // P1 is never beside P2', nor P3 beside P1'.
    assert_eq!(walk.calls, 14);
    assert!(walk.is_multiply_visited());
    assert_eq!(base.dangerous(&walk), ["(P1, S4) F", "(P2, P1) F"]);
}

/// Fig. 6.
const SYS: &str = r#"
int main(void)
{
    /*S1*/ x = read();
    /*call A*/ proc_a();
    /*P2*/ if (x > 0)
        /*S3*/ y = x;
    /*call B*/ proc_b();
}
void proc_a(void)
{
    /*call C*/ proc_c();
    /*P4*/ if (x < 9)
        /*call A*/ proc_a();
    else
        /*call B*/ proc_b();
}
void proc_b(void)
{
    /*S5*/ x = x - 1;
}
void proc_c(void)
{
    /*S6*/ x = x + 1;
}
"#;

const PROCEDURES: [&str; 4] = ["main", "proc_a", "proc_b", "proc_c"];

struct Sys {
    base: Vec<Figure>,
    head: Vec<Figure>,
}

impl Sys {
    fn new(head: &str) -> Self {
        let read = |text: &str| PROCEDURES.map(|name| Figure::of(text, name)).into();
        Sys {
            base: read(SYS),
            head: read(head),
        }
    }

    fn select(&self) -> ProcTable {
        select_inter_tests(self, PROCEDURES.len(), [0])
    }

    /// The names of the nodes of a procedure that were compared, in the order of their numbers.
    fn compared(&self, table: &ProcTable, procedure: usize) -> Vec<&str> {
        let (_, walk) = table[procedure].as_ref().unwrap();
        let nodes: BTreeSet<usize> = walk.visited.iter().map(|(node, _)| *node).collect();
        nodes
            .into_iter()
            .map(|node| self.base[procedure].name(node))
            .collect()
    }

    fn dangerous(&self, table: &ProcTable) -> Vec<String> {
        let mut all = Vec::new();
        for (figure, found) in self.base.iter().zip(table) {
            all.extend(found.iter().flat_map(|(_, walk)| figure.dangerous(walk)));
        }
        all
    }
}

impl Program for Sys {
    type Equivalent = SameTokens;

    fn procedure(&self, index: usize) -> Procedure<'_> {
        Procedure {
            base: &self.base[index].cfg,
            head: &self.head[index].cfg,
        }
    }

    fn called(&self, _: usize, node: &Node) -> Vec<usize> {
        (0..PROCEDURES.len())
            .filter(|index| node.calls.contains(Name::of(PROCEDURES[*index].as_bytes())))
            .collect()
    }

    fn equivalent(&self, _: usize) -> &SameTokens {
        &SameTokens
    }
}

fn statuses(table: &ProcTable) -> [Option<Status>; 4] {
    [0, 1, 2, 3].map(|index: usize| table[index].as_ref().map(|(status, _)| *status))
}

#[test]
fn an_unchanged_sys_is_walked_to_its_exits() {
    let sys = Sys::new(SYS);
    let table = sys.select();
    assert_eq!(statuses(&table), [Some(Status::Visited); 4]);
    assert_eq!(sys.dangerous(&table), [""; 0]);
    for (index, figure) in sys.base.iter().enumerate() {
        let (_, walk) = table[index].as_ref().unwrap();
        assert_eq!(walk.calls, figure.cfg.nodes.len());
    }
}

#[test]
fn behind_a_changed_s1_no_procedure_is_compared() {
    let sys = Sys::new(&changed(SYS, "x = read()", "x = 1"));
    let table = sys.select();
    assert_eq!(
        statuses(&table),
        [Some(Status::SelectsAll), None, None, None]
    );
    assert_eq!(sys.dangerous(&table), ["(D, S1)"]);
}

#[test]
fn a_changed_s6_stops_the_walk_behind_the_calls_that_lead_to_it() {
    let sys = Sys::new(&changed(SYS, "x = x + 1", "x = x + 2"));
    let table = sys.select();
    let all = Some(Status::SelectsAll);
    assert_eq!(
        statuses(&table),
        [all, all, None, all],
        "B is not compared with its counterpart"
    );
    assert_eq!(sys.compared(&table, 0), ["entry", "D", "S1"]);
    assert_eq!(sys.compared(&table, 1), ["entry", "D"]);
    assert_eq!(sys.dangerous(&table), ["(D, S6)"]);
}

#[test]
fn a_changed_s5_is_found_through_the_recursion_of_a() {
    let sys = Sys::new(&changed(SYS, "x = x - 1", "x = x - 2"));
    let table = sys.select();
    let (all, visited) = (Some(Status::SelectsAll), Some(Status::Visited));
    // Through its call of itself A seems to get to its exit: when it is met there, nothing is known of A yet.
    assert_eq!(statuses(&table), [all, visited, all, visited]);
    assert_eq!(
        sys.compared(&table, 1),
        ["entry", "exit", "D", "call C", "P4", "call A"]
    );
    assert_eq!(
        sys.compared(&table, 0),
        ["entry", "D", "S1", "call A", "P2", "S3"],
        "main is not traversed beyond the call of B"
    );
    assert_eq!(sys.compared(&table, 3), ["entry", "exit", "D", "S6"]);
    assert_eq!(sys.dangerous(&table), ["(D, S5)"]);
}

/// What both granularities find in `f` when everything in `helper` changes too.
fn dangerous_beside_helper(statement: &str) -> Vec<Vec<usize>> {
    let text = format!(
        "static int helper(void) {{ return 1; }}\n\
         int f(int x) {{ {statement}; return x; }}"
    );
    let head = text
        .replace("return 1", "return 2")
        .replace("return x;", "return -x;");
    [Granularity::Statement, Granularity::Expression]
        .map(|granularity| {
            let facts = |text: &str| {
                Some(Arc::new(file_facts(
                    text.as_bytes(),
                    &MacroTable::default(),
                    granularity,
                )))
            };
            let files = [FilePair {
                base: facts(&text),
                head: facts(&head),
                whole: None,
                visible: Affected::default(),
            }];
            compare_functions(&files, &Affected::new([]))
                .into_iter()
                .find(|difference| difference.name == "f")
                .unwrap()
                .walk
                .dangerous
        })
        .into()
}

#[test]
fn only_calls_that_are_certain_end_the_walk() {
    for certain in [
        "helper()",
        "x = helper() && x",
        "x += helper() + (x ? 1 : 2)",
    ] {
        for found in dangerous_beside_helper(certain) {
            assert_eq!(found, [0; 0], "{certain}: helper selects all");
        }
    }
    for doubtful in [
        "x && helper()",
        "x = x || helper()",
        "x = x ? helper() : 3",
        "x = sizeof(helper())",
        "x = _Alignof(helper())",
        "x = __builtin_constant_p(helper())",
        "x = __builtin_choose_expr(1, 2, helper())",
        "x = ({ if (x) helper(); 1; })",
        "x = ({ while (x) helper(); 1; })",
        "int (*p)(void) = helper",
        "int (*helper)(void) = other; helper()",
        "SOMETIMES(helper())",
        "if (x) helper()",
        "\n#ifdef Z\n if (x)\n#endif\n helper()",
        "x = 2 +\n#ifdef Z\n helper()\n#else\n 3\n#endif\n",
    ] {
        for found in dangerous_beside_helper(doubtful) {
            assert_ne!(
                found, [0; 0],
                "{doubtful}: a test may come by without entering helper"
            );
        }
    }
}

/// The switch of the examples for section 3.1.4.
const SWITCH: &str = r#"
void f(int c)
{
    /*P1*/ switch (c) {
    case RED:
        /*S2*/ red();
        break;
    case GREEN:
        /*S3*/ green();
        break;
    case BLUE:
        /*S4*/ blue();
        break;
    default:
        /*S5*/ other();
    }
    /*S6*/ done();
}
"#;

/// What the comparison of functions finds when these names mean something else in the head version.
fn dangerous_when_affected(base: &str, head: &str, names: &[&str]) -> Vec<String> {
    let mut affected = Affected::new([]);
    for name in names {
        affected.add(name, "its value changed");
    }
    let files = [FilePair {
        base: Some(Arc::new(facts(base))),
        head: Some(Arc::new(facts(head))),
        whole: None,
        visible: Affected::default(),
    }];
    let figure = Figure::of(base, "f");
    compare_functions(&files, &affected)
        .iter()
        .filter(|difference| difference.name == "f")
        .flat_map(|difference| figure.dangerous(&difference.walk))
        .collect()
}

#[test]
fn an_added_case_endangers_the_default_alone() {
    let head = changed(
        SWITCH,
        "default:",
        "case GREY: /*S7*/ grey(); break; default:",
    );
    assert_eq!(dangerous(SWITCH, &head, "f"), ["(P1, S5) default"]);
    // Also where it shares the statements of another case, and where the default is not written.
    let head = changed(SWITCH, "case RED:", "case GREY: case RED:");
    assert_eq!(dangerous(SWITCH, &head, "f"), ["(P1, S5) default"]);
    let bare = |text: &str| changed(text, "default:\n        /*S5*/ other();", "");
    assert_eq!(
        dangerous(&bare(SWITCH), &bare(&head), "f"),
        ["(P1, S6) default"]
    );
}

#[test]
fn a_removed_case_endangers_its_own_edge_alone() {
    let head = changed(
        SWITCH,
        "case GREEN:\n        /*S3*/ green();\n        break;",
        "",
    );
    assert_eq!(dangerous(SWITCH, &head, "f"), ["(P1, S3) case GREEN"]);
}

#[test]
fn cases_in_another_order_endanger_nothing() {
    let text = changed(
        SWITCH,
        "case RED:\n        /*S2*/ red();\n        break;",
        "",
    );
    let head = changed(
        &text,
        "default:",
        "case RED:\n /*S2*/ red();\n break;\n default:",
    );
    assert_eq!(dangerous(SWITCH, &head, "f"), [""; 0]);
}

#[test]
fn a_removed_fall_through_endangers_the_edge_that_fell() {
    let base = changed(SWITCH, "green();\n        break;", "green();");
    assert_eq!(dangerous(&base, SWITCH, "f"), ["(S3, S4)"]);
}

#[test]
fn a_case_of_another_value_endangers_itself_and_the_default() {
    assert_eq!(
        dangerous_when_affected(SWITCH, SWITCH, &["GREEN"]),
        ["(P1, S3) case GREEN", "(P1, S5) default"]
    );
    assert_eq!(dangerous_when_affected(SWITCH, SWITCH, &["GREY"]), [""; 0]);
}

const DECLARED: &str = r#"
void f(int c)
{
    int n;
    int m, unused;
    /*S1*/ m = c;
    /*P2*/ if (m > 0)
        /*S3*/ n = 1;
    else
        /*S4*/ m = 2;
    /*S5*/ print(m);
}
"#;

#[test]
fn a_changed_local_declaration_endangers_only_its_uses() {
    let head = changed(DECLARED, "int n;", "long n;");
    assert_eq!(dangerous(DECLARED, &head, "f"), ["(P2, S3) T"]);
    assert_eq!(
        dangerous_when_affected(DECLARED, &head, &[]),
        ["(P2, S3) T"]
    );
}

#[test]
fn an_unused_declaration_endangers_nothing() {
    for head in [
        changed(DECLARED, "int m, unused;", "int m; long unused;"),
        changed(DECLARED, "int m, unused;", "int m;"),
        changed(DECLARED, "int m, unused;", "int m, unused; char more[9];"),
    ] {
        assert_eq!(dangerous(DECLARED, &head, "f"), [""; 0], "{head}");
    }
}

#[test]
fn a_changed_local_type_endangers_the_uses_of_its_variables() {
    let typed = changed(
        DECLARED,
        "int n;",
        "typedef int number; struct s { number n; }; struct s n;",
    );
    let typed = changed(&typed, "n = 1", "n.n = 1");
    let head = changed(&typed, "typedef int number", "typedef long number");
    assert_eq!(dangerous(&typed, &head, "f"), ["(P2, S3) T"]);
}

#[test]
fn a_changed_local_type_that_control_jumps_over_reaches_its_uses() {
    let base = r"
void f(int c)
{
    /*P1*/ switch (c) {
        struct pair { int one, two; };
        struct pair p;
        enum { LOW = 1, HIGH };
    case 1:
        /*S2*/ p.one = c;
        break;
    case 2:
        /*S3*/ print(HIGH);
        break;
    case 3:
        /*S4*/ print(c);
    }
    /*S5*/ done();
}
";
    let head = changed(base, "int one", "long one");
    assert_eq!(dangerous(base, &head, "f"), ["(P1, S2) case 1"]);
    let head = changed(base, "LOW = 1", "LOW = 7");
    assert_eq!(dangerous(base, &head, "f"), ["(P1, S3) case 2"]);
    assert!(!Figure::of(base, "f").cfg.hidden_jumps);
}

#[test]
fn a_changed_parameter_endangers_the_entry() {
    let head = changed(DECLARED, "f(int c)", "f(long c)");
    assert_eq!(dangerous(DECLARED, &head, "f"), ["(entry, D)"]);
}

#[test]
fn a_declaration_inside_a_block_hides_the_one_outside() {
    let head = changed(DECLARED, "/*S3*/ n = 1;", "{ long n; /*S3*/ n = 1; }");
    assert_eq!(dangerous(DECLARED, &head, "f"), ["(P2, S3) T"]);
}

#[test]
fn an_initial_value_is_executed_where_it_stands() {
    let base = changed(DECLARED, "/*S5*/", "/*S6*/ int k = 1; /*S5*/");
    let head = changed(&base, "k = 1", "k = 2");
    assert_eq!(
        dangerous(&base, &head, "f"),
        ["(S3, S6)", "(S4, S6)"],
        "a declaration with a value is a statement"
    );
}

#[test]
fn a_declaration_that_a_goto_jumps_over_reaches_its_uses() {
    let base = r#"
void f(int c)
{
    /*P1*/ if (c > 0)
        goto inside;
    {
        int n;
        /*S2*/ before(c);
    inside:
        /*S3*/ n = c;
        /*S4*/ print(n);
    }
    /*S5*/ done();
}
"#;
    let head = changed(base, "int n;", "char n;");
    let edges = ["(P1, S3) T", "(S2, S3)"];
    assert_eq!(dangerous(base, &head, "f"), edges);
    // Its value is not set by who jumps over it.
    let base = changed(base, "int n;", "/*S6*/ int n = 0;");
    let head = changed(&base, "n = 0", "n = 1");
    assert_eq!(dangerous(&base, &head, "f"), ["(P1, S6) F"]);
}

#[test]
fn a_declaration_that_a_switch_jumps_over_reaches_its_uses() {
    let base = r#"
void f(int c)
{
    /*P1*/ switch (c) {
        int n;
    case 1:
        /*S2*/ n = c;
        /*S3*/ print(n);
        break;
    case 2:
        /*S4*/ print(c);
    }
    /*S5*/ done();
}
"#;
    let head = changed(base, "int n;", "char n;");
    assert_eq!(dangerous(base, &head, "f"), ["(P1, S2) case 1"]);
}

/// A small `incl`, with the functions that paper 003 names.
const INCL_C: &str = r#"#include <stdio.h>
#include "incl.h"

static int level = 0;

void levprint(struct file *file)
{
    for (int i = 0; i < N_LEVPRINT; ++i)
        printf("%s", file->name);
}

void dagprint(struct file *file)
{
    printf("dag %s\n", file->name);
}

void dbepprint(struct file *file)
{
    printf("dbep %s\n", file->name);
}

void dbvprint(struct file *file)
{
    printf("dbv %s\n", file->name);
}

int qexprint(struct file *file)
{
    if (file == NULL)
        return 0;
    level = N_LEVELS;
    return printf("%s\n", file->name);
}
"#;

const INCL_H: &str = r"#ifndef INCL_H
#define INCL_H

#define N_LEVELS 12
#define N_LEVPRINT 4

struct file {
    char *name;
};

int qexprint(struct file *file);

#endif
";

fn run(directory: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .current_dir(directory)
        .args(arguments)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "A U Thor")
        .env("GIT_AUTHOR_EMAIL", "author@example.com")
        .env("GIT_AUTHOR_DATE", "2024-01-01T00:00:00Z")
        .env("GIT_COMMITTER_NAME", "C O Mitter")
        .env("GIT_COMMITTER_EMAIL", "committer@example.com")
        .env("GIT_COMMITTER_DATE", "2024-01-01T00:00:00Z")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn ttdiff_lists_the_four_entities_that_changed_in_incl() {
    let room = tempfile::tempdir().unwrap();
    let commit = |source: &str, header: &str| {
        fs::write(room.path().join("incl.c"), source).unwrap();
        fs::write(room.path().join("incl.h"), header).unwrap();
        run(room.path(), "git", &["add", "--all"]);
        run(
            room.path(),
            "git",
            &["commit", "--quiet", "--message", "a version"],
        );
    };
    run(room.path(), "git", &["init", "--quiet"]);
    commit(INCL_C, INCL_H);
    let source = INCL_C
        .replace("dag %s", "dag: %s")
        .replace("dbep %s", "dbep: %s")
        .replace("return 0", "return -1")
        .replace("void dbvprint", "/* for the database */ void dbvprint");
    let header = changed(INCL_H, "N_LEVPRINT 4", "N_LEVPRINT 6");
    commit(&source, &header);
    let listed = run(
        room.path(),
        env!("CARGO_BIN_EXE_git-rts"),
        &["diff", "HEAD~1", "HEAD", "--format", "ttdiff"],
    );
    assert_eq!(
        listed,
        "function;incl.c;dagprint\n\
         function;incl.c;dbepprint\n\
         function;incl.c;qexprint\n\
         macro;incl.h;N_LEVPRINT\n"
    );
}
