//! Whatever is printed reads back as the same, and no text makes the parser panic.

use proptest::prelude::*;

use super::super::{parse, parse_metric_selector};
use super::shape;

/// Texts of expressions that give an instant vector.
fn vector() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("x".to_owned()),
        Just("a:b{c!=\"d\"}".to_owned()),
        ("[a-z]{1,3}", ".{0,4}").prop_map(|(name, value)| format!("m{{{name}!={value:?}}}")),
        (1..9_u32, -9..9_i32)
            .prop_map(|(range, offset)| format!("rate(x[{range}m] offset {offset}m)")),
        (-9.0..9.0_f64).prop_map(|at| format!("x @ {at}")),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|expr| format!("({expr})")),
            inner.clone().prop_map(|expr| format!("-{expr}")),
            inner
                .clone()
                .prop_map(|expr| format!("sum by (a, \"b c\") ({expr})")),
            inner
                .clone()
                .prop_map(|expr| format!("topk without (a) (3, {expr})")),
            inner
                .clone()
                .prop_map(|expr| format!("max_over_time(({expr})[1h:step() * 2] @ end())")),
            inner
                .clone()
                .prop_map(|expr| format!("clamp({expr}, 1h, -Inf)")),
            (operator(), pair).prop_map(|(op, (left, right))| format!("{left} {op} {right}")),
        ]
    })
}

fn operator() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "+",
        "-",
        "*",
        "/",
        "%",
        "^",
        "atan2",
        "==",
        "> bool",
        "</",
        "and",
        "or on ()",
        "unless ignoring (a)",
        "* on (a) group_left (b)",
        "- ignoring (a) group_right ()",
        "+ fill (0)",
        "/ fill_right (-1)",
    ])
}

/// Words that may follow each other in any order.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "+",
        "-",
        "^",
        "==",
        "=~",
        "!",
        "@",
        "sum",
        "by",
        "on",
        "bool",
        "group_left",
        "offset",
        "5m",
        "0x",
        "1e",
        "x",
        "rate",
        "\"a\"",
        "'",
        "`",
        "step()",
        "min_of(",
        "fill(",
        "anchored",
        "start()",
        "#",
        "\n",
        "é",
        "\\",
        "=",
        "info",
    ]);
    prop::collection::vec(word, 0..20).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_as_the_same_expression(text in vector()) {
        if let Ok(expr) = parse(&text) {
            let printed = expr.to_string();
            let again = parse(&printed).unwrap();
            prop_assert_eq!(shape(&again), shape(&expr), "{} -> {}", text, printed);
            let pretty = crate::format::pretty(&expr);
            prop_assert_eq!(shape(&parse(&pretty).unwrap()), shape(&expr), "{}", pretty);
        }
    }

    #[test]
    fn words_in_any_order_never_panic(text in words()) {
        for read in [parse(&text).err(), parse_metric_selector(&text).err()].into_iter().flatten() {
            prop_assert!(read.offset <= text.len());
        }
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = (parse(&text).is_ok(), parse_metric_selector(&text).is_ok());
    }

    #[test]
    fn any_regex_is_compiled_or_refused(pattern in "[a-c()\\[\\]{}|*+?^$.\\\\dpQEx0-9,:<>=!iPs-]{0,14}") {
        let text = format!("x{{a=~{}}}", crate::format::quote::quote(&pattern));
        if let Err(error) = parse(&text) {
            prop_assert!(error.message.starts_with("error parsing regexp: "), "{}", error);
            prop_assert!(!error.message.contains("nests too deeply"), "{}", error);
        }
    }
}
