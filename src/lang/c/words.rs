//! The reserved words of C and its dialects, by what the front end does with them.

/// Words that never name an entity.
pub(crate) fn is_keyword(word: &[u8]) -> bool {
    is_control(word)
        || is_type_word(word)
        || is_qualifier(word)
        || is_attribute_call(word)
        || matches!(
            word,
            b"sizeof"
                | b"typedef"
                | b"_Alignof"
                | b"alignof"
                | b"_Generic"
                | b"_Static_assert"
                | b"static_assert"
                | b"__typeof__"
                | b"__typeof"
                | b"typeof"
                | b"typeof_unqual"
                | b"__typeof_unqual__"
                | b"_BitInt"
                | b"asm"
                | b"__asm__"
                | b"__asm"
                | b"defined"
                | b"__label__"
        )
}

pub(crate) fn is_control(word: &[u8]) -> bool {
    matches!(
        word,
        b"if"
            | b"else"
            | b"for"
            | b"while"
            | b"do"
            | b"switch"
            | b"case"
            | b"default"
            | b"return"
            | b"goto"
            | b"break"
            | b"continue"
    )
}

/// Words that leave the straight line of a statement list.
pub(crate) fn is_jump(word: &[u8]) -> bool {
    matches!(word, b"return" | b"goto" | b"break" | b"continue")
}

pub(crate) fn is_type_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"void"
            | b"char"
            | b"short"
            | b"int"
            | b"long"
            | b"float"
            | b"double"
            | b"signed"
            | b"unsigned"
            | b"__signed__"
            | b"_Bool"
            | b"_Complex"
            | b"struct"
            | b"union"
            | b"enum"
    )
}

/// Storage classes and qualifiers: they change nothing in how a text parses.
pub(crate) fn is_qualifier(word: &[u8]) -> bool {
    matches!(
        word,
        b"static"
            | b"extern"
            | b"inline"
            | b"__inline"
            | b"__inline__"
            | b"__forceinline"
            | b"const"
            | b"__const"
            | b"__const__"
            | b"volatile"
            | b"__volatile"
            | b"__volatile__"
            | b"restrict"
            | b"__restrict"
            | b"__restrict__"
            | b"register"
            | b"auto"
            | b"_Noreturn"
            | b"__extension__"
            | b"_Thread_local"
            | b"__thread"
            | b"_Atomic"
    )
}

/// Words that take a parenthesised list and decorate a declaration.
pub(crate) fn is_attribute_call(word: &[u8]) -> bool {
    matches!(
        word,
        b"__attribute__"
            | b"__attribute"
            | b"__declspec"
            | b"_Alignas"
            | b"alignas"
            | b"_Pragma"
            | b"__pragma"
    )
}

pub(crate) fn is_asm(word: &[u8]) -> bool {
    matches!(word, b"asm" | b"__asm__" | b"__asm")
}

pub(crate) fn is_typeof(word: &[u8]) -> bool {
    matches!(
        word,
        b"typeof" | b"__typeof__" | b"__typeof" | b"typeof_unqual" | b"__typeof_unqual__"
    )
}

/// Words that, with the group behind them, are a type.
pub(crate) fn makes_type_of_group(word: &[u8]) -> bool {
    is_typeof(word) || matches!(word, b"_Atomic" | b"_BitInt")
}

pub(crate) fn is_static_assertion(word: &[u8]) -> bool {
    matches!(word, b"_Static_assert" | b"static_assert")
}

/// What stands in its parentheses may not be evaluated.
pub(crate) fn is_unevaluated(word: &[u8]) -> bool {
    matches!(
        word,
        b"sizeof"
            | b"_Generic"
            | b"_Alignof"
            | b"alignof"
            | b"__alignof__"
            | b"__alignof"
            | b"offsetof"
            | b"__builtin_offsetof"
            | b"__builtin_constant_p"
            | b"__builtin_choose_expr"
            | b"__builtin_types_compatible_p"
            | b"__builtin_object_size"
            | b"__builtin_dynamic_object_size"
            | b"__builtin_classify_type"
            | b"__builtin_has_attribute"
            | b"_Countof"
    )
}

/// Written in capitals, as macros are: at least one letter and none in lower case.
pub(crate) fn in_capitals(word: &[u8]) -> bool {
    word.iter().any(u8::is_ascii_uppercase) && !word.iter().any(u8::is_ascii_lowercase)
}

/// The attribute that calls a function at the end of its variable's block.
pub(crate) const CLEANUP: [&[u8]; 2] = [b"cleanup", b"__cleanup__"];

/// Functions that find a symbol by its name.
pub(crate) const LOADERS: [&[u8]; 6] = [
    b"dlsym",
    b"dlvsym",
    b"lt_dlsym",
    b"uv_dlsym",
    b"g_module_symbol",
    b"GetProcAddress",
];

/// A declaration with one of these attributes acts although nothing mentions its name.
pub(crate) const UNMENTIONED: [&[u8]; 17] = [
    b"constructor",
    b"__constructor__",
    b"destructor",
    b"__destructor__",
    b"section",
    b"__section__",
    b"weak",
    b"__weak__",
    b"weakref",
    b"__weakref__",
    b"alias",
    b"__alias__",
    b"ifunc",
    b"__ifunc__",
    b"init_priority",
    b"symver",
    b"__symver__",
];

/// Words behind which a string names a symbol.
pub(crate) fn names_symbols(word: &[u8]) -> bool {
    is_asm(word)
        || matches!(
            word,
            b"alias"
                | b"__alias__"
                | b"weakref"
                | b"__weakref__"
                | b"ifunc"
                | b"__ifunc__"
                | b"symver"
                | b"__symver__"
        )
}

/// Whether a pragma, given its words, acts on what follows the function in which it stands.
pub(crate) fn pragma_acts_beyond<'a>(mut pragma: impl Iterator<Item = &'a [u8]>) -> bool {
    let (first, second) = (pragma.next(), pragma.next());
    match first.unwrap_or_default() {
        b"GCC" => !matches!(
            second.unwrap_or_default(),
            b"diagnostic" | b"unroll" | b"ivdep" | b"novector" | b"warning" | b"error"
        ),
        b"clang" => !matches!(second.unwrap_or_default(), b"diagnostic" | b"loop" | b"fp"),
        word => !matches!(
            word,
            b"" | b"omp"
                | b"acc"
                | b"unroll"
                | b"nounroll"
                | b"ivdep"
                | b"mark"
                | b"region"
                | b"endregion"
                | b"message"
                | b"warning"
                | b"diag_suppress"
                | b"diag_default"
                | b"diag_push"
                | b"diag_pop"
                | b"once"
                | b"STDC"
        ),
    }
}

/// Assembler directives by which code that nobody executes leaves something behind.
pub(crate) fn has_assembler_directive(text: &[u8]) -> bool {
    const DIRECTIVES: [&[u8]; 9] = [
        b"section", b".data", b".bss", b".glob", b".weak", b".set", b".equ", b"comm", b".symver",
    ];
    DIRECTIVES.iter().any(|directive| {
        text.windows(directive.len())
            .any(|window| window == *directive)
    })
}

pub(crate) fn acts_unmentioned(word: &[u8]) -> bool {
    UNMENTIONED.contains(&word)
}
