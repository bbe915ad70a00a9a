//! The front end on C as people write it: what stays at edge granularity, what is one opaque node, what is known as a whole.

#![allow(clippy::unwrap_used, clippy::panic)]

use git_rts::lang::c::macros::MacroTable;
use git_rts::lang::c::{Granularity, file_facts, lex_facts};
use git_rts::lang::cfg::{Cfg, EXIT, Label, NodeKind};
use git_rts::lang::facts::{Flow, Kind};

fn flow(source: &str, function: &str) -> Flow {
    let macros = MacroTable::learn(&lex_facts(source.as_bytes()).macros);
    let facts = file_facts(source.as_bytes(), &macros, Granularity::Expression);
    let entity = facts
        .entities
        .iter()
        .find(|entity| {
            entity.kind == Kind::Function && entity.body.is_some() && entity.name == function
        })
        .unwrap_or_else(|| panic!("no function '{function}' in:\n{source}"));
    entity.body.as_ref().unwrap().flow.clone()
}

fn graph(source: &str) -> Cfg {
    match flow(source, "f") {
        Flow::Edges(cfg) => cfg,
        Flow::Whole(reason) => panic!("known only as a whole, because {reason}:\n{source}"),
    }
}

/// The edges as `from label> to`, by the first line of each node's text.
fn edges(source: &str) -> Vec<String> {
    let cfg = graph(source);
    let text = |node: u32| {
        let node = &cfg.nodes[node as usize];
        match node.kind {
            NodeKind::Entry => "entry".to_owned(),
            NodeKind::Exit => "exit".to_owned(),
            NodeKind::Header => "D".to_owned(),
            _ => source[node.span.start as usize..node.span.end as usize].to_owned(),
        }
    };
    cfg.edges
        .iter()
        .map(|edge| {
            format!(
                "{} {}> {}",
                text(edge.from),
                edge.label.text(),
                text(edge.to)
            )
        })
        .collect()
}

fn opaque(cfg: &Cfg) -> usize {
    cfg.nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Opaque)
        .count()
}

#[test]
fn macros_in_every_position_leave_the_graph_fine() {
    for body in [
        "int len UNUSED = 0; g(len);",
        "g(BAD_CAST p);",
        "EACH(i, 4) { g(i); }",
        "EACH(i, 4) g(i);",
        "CHECK_GOTO(r, LOG(c); ret = E, error); error: return 1;",
        "STMT g(1);",
        "if COND(x) { g(1); }",
        "x = va_arg(ap, struct s **);",
        "g(offsetof(struct s, m), sizeof(struct s));",
        "x = \"a\" STR(b) \"c\";",
        "if (a AND b) g(1);",
        "UNKNOWN_BLOCK(x) { g(1); }",
        "__attribute__((unused)) int y; g(y);",
        "__asm__ volatile (\"nop\" ::: \"memory\");",
        "typeof(x) z = x; g(z);",
        "x = a ?: b;",
        "switch (x) { case 1 ... 3: g(1); }",
        "static void *t[] = { &&l1, &&l2 }; goto *t[x]; l1: g(1); l2: g(2);",
        "x = ({ int q = 1; q + 1; });",
        "g((struct s){ .m = 1 });",
        "x = _Generic(x, int: 1, default: 2);",
        "int v[x]; g(v);",
        "for (int i = 0, j = 1; i < j; i++, j--) g(i);",
        "if (a)\n#ifdef X\n g(1);\n#else\n g(2);\n#endif\n g(3);",
        "if (a) g(1);\n#ifdef X\n else if (b) g(2);\n#endif\n else g(3);",
        "g(a\n#ifdef X\n , b\n#endif\n );",
        "int t[] = {\n#ifdef X\n 1,\n#endif\n 2 };",
        "#ifdef X\n if (a) {\n#else\n if (b) {\n#endif\n g(1); }",
        "while (n) { switch (n) { case 0: do { g(1); case 1: g(2); } while (--n); } }",
    ] {
        let source = format!(
            "#define UNUSED __attribute__((unused))\n#define BAD_CAST (unsigned char *)\n#define EACH(i, n) for (i = 0; i < n; i++)\n\
             #define CHECK_GOTO(r, s, l) do {{ if (r) {{ s; goto l; }} }} while (0)\n#define STMT g(0);\n#define COND(x) (x > 1)\n\
             #define STR(x) #x\n#define AND &&\nint f(int x, char *p) {{\n{body}\nreturn 0;\n}}\n"
        );
        let cfg = graph(&source);
        let confined = opaque(&cfg);
        assert!(
            confined <= 1 && cfg.nodes.len() > 3,
            "{confined} opaque nodes in:\n{body}"
        );
        // What is after the construct is still a statement of its own.
        let last = cfg.nodes.iter().filter(|node| {
            source[node.span.start as usize..node.span.end as usize] == *"return 0;"
        });
        assert_eq!(last.count(), 1, "{body}");
    }
}

#[test]
fn operands_are_nodes_with_their_own_edges() {
    assert_eq!(
        edges("int f(int a, int b) { if (a && b) g(); return 1; }"),
        [
            "entry > D",
            "D > a",
            "a T> b",
            "a F> return 1;",
            "b T> g();",
            "b F> return 1;",
            "g(); > return 1;",
            "return 1; > exit",
        ]
    );
}

#[test]
fn a_statement_comes_before_its_conditional_parts() {
    assert_eq!(
        edges("int f(int a, int b) { a = h() + (a ? b : 2); return 1; }")[1..5],
        [
            "D > a = h() + (a ? b : 2);",
            "a = h() + (a ? b : 2); > a",
            "a T> b",
            "a F> 2"
        ]
    );
}

#[test]
fn jumps_are_edges() {
    let found = edges(
        "int f(int a) { while (a) { if (a > 2) break; if (a > 1) continue; goto end; } g(); end: return 1; }",
    );
    assert!(found.contains(&"a > 2 T> g();".to_owned()), "{found:?}");
    assert!(found.contains(&"a > 1 T> a".to_owned()), "{found:?}");
    assert!(
        found.contains(&"a > 1 F> return 1;".to_owned()),
        "{found:?}"
    );
}

#[test]
fn a_macro_that_jumps_leads_to_the_exit_and_to_every_label() {
    let cfg =
        graph("#define TRY(x) if (x) goto out;\nint f(int a) { TRY(a) g(); out: return h(); }");
    assert!(cfg.hidden_jumps);
    let jumps = cfg
        .edges
        .iter()
        .filter(|edge| matches!(edge.label, Label::Jump(_)));
    let targets: Vec<usize> = jumps.map(|edge| edge.to as usize).collect();
    assert!(targets.contains(&EXIT) && targets.len() == 2, "{targets:?}");
    let harmless =
        graph("#define SET(x) do { x = 1; } while (0)\nint f(int a) { SET(a); out: return h(); }");
    assert!(!harmless.hidden_jumps);
}

#[test]
fn a_macro_from_outside_in_capitals_may_jump() {
    assert!(graph("int f(int a) { ASSERT_OK(a); return 1; }").hidden_jumps);
    assert!(!graph("int f(int a) { assert_ok(a); return 1; }").hidden_jumps);
}

#[test]
fn an_error_in_one_function_leaves_its_neighbours_alone() {
    let source = "int f(int a) { return a @ 3; }\nint g(void) { if (a) return 1; return 2; }\n";
    assert!(matches!(flow(source, "g"), Flow::Edges(_)));
    assert_eq!(opaque(&graph(source)), 1);
}

#[test]
fn a_macro_with_an_open_brace_makes_the_function_whole() {
    let source = "#define BEGIN {\nint f(int a) { BEGIN a = 1; } }\n";
    let macros = MacroTable::learn(&lex_facts(source.as_bytes()).macros);
    let facts = file_facts(source.as_bytes(), &macros, Granularity::Expression);
    let known = facts.entities.iter().any(|entity| match &entity.body {
        Some(body) => matches!(&body.flow, Flow::Whole(reason) if reason.contains("BEGIN")),
        None => entity.kind == Kind::File,
    });
    assert!(known, "{facts:?}");
}

#[test]
fn mentions_do_not_double_from_one_enumerator_to_the_next() {
    let names: Vec<String> = (0..300).map(|number| format!("E{number}")).collect();
    let cfg = graph(&format!(
        "int f(int a) {{ enum {{ {} }}; return E7; }}",
        names.join(", ")
    ));
    let returned = cfg
        .nodes
        .iter()
        .find(|node| node.kind == NodeKind::Statement)
        .unwrap();
    assert!(returned.mentions.len() <= names.len() + 2);
}

#[test]
fn a_token_that_no_node_speaks_for_counts_for_the_header() {
    let header = |source: &str| {
        let cfg = graph(source);
        cfg.nodes
            .iter()
            .find(|node| node.kind == NodeKind::Header)
            .unwrap()
            .clone()
    };
    let with = header("#define NOTHING\nint f(int a) { { NOTHING } return a; }");
    let without = header("#define NOTHING\nint f(int a) { { } return a; }");
    assert_ne!(with.digest, without.digest);
    assert!(
        with.mentions
            .contains(git_rts::digest::Name::of(b"NOTHING"))
    );
}

#[test]
fn labels_and_cases_that_macros_make_leave_the_function_whole() {
    for source in [
        "#define LBL out\nint f(int a) { if (a) goto LBL; g(); out: return 1; }",
        "#define LBL out\nint f(int a) { if (a) goto out; g(); LBL: return 1; }",
        "#define CASES case 2: case 3:\nint f(int a) { switch (a) { case 1: g(); CASES h(); } return 1; }",
    ] {
        assert!(matches!(flow(source, "f"), Flow::Whole(_)), "{source}");
    }
}

#[test]
fn a_declaration_that_may_have_a_cleanup_is_a_statement() {
    let source = "#define CLEAN __attribute__((cleanup(done)))\nint f(int a) { CLEAN int q; int r; return a; }";
    let found = edges(source);
    assert!(
        found.iter().any(|edge| edge.contains("CLEAN int q;")),
        "{found:?}"
    );
    assert!(
        !found.iter().any(|edge| edge.contains("int r;")),
        "{found:?}"
    );
}
