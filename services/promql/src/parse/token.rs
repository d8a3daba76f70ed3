//! The words of the language: a piece of text becomes a kind of token, and a token its description in errors.

use crate::ast::{AggregateOp, BinaryOp};
use crate::format::quote::{quote, quote_first};

/// One word of the query and where it starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'q> {
    pub(super) kind: TokenKind,
    pub(super) at: usize,
    pub(super) text: &'q str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    End,
    Comma,
    Colon,
    /// `=`, which only matchers use.
    Equal,
    EqualRegex,
    NotRegex,
    LeftBrace,
    RightBrace,
    LeftBracket,
    RightBracket,
    LeftParen,
    RightParen,
    Identifier,
    /// An identifier with a colon in it.
    MetricIdentifier,
    Number,
    Duration,
    String,
    At,
    Op(BinaryOp),
    Aggregate(AggregateOp),
    Keyword(Keyword),
    Context(Context),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Bool,
    By,
    Without,
    On,
    Ignoring,
    GroupLeft,
    GroupRight,
    Fill,
    FillLeft,
    FillRight,
    Offset,
    Anchored,
    Smoothed,
}

/// Names of functions that also stand after `@` or in durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    Start,
    End,
    Step,
    Range,
    MinOf,
    MaxOf,
}

/// The kind of a whole word outside of braces; an identifier where it is no keyword.
pub(super) fn word_kind(word: &str) -> TokenKind {
    let lower = word.to_ascii_lowercase();
    operator(&lower)
        .map(TokenKind::Op)
        .or_else(|| aggregation(&lower).map(TokenKind::Aggregate))
        .or_else(|| keyword(&lower).map(TokenKind::Keyword))
        .or_else(|| context(&lower).map(TokenKind::Context))
        .unwrap_or_else(|| match lower.as_str() {
            "inf" | "nan" => TokenKind::Number,
            _ if word.contains(':') => TokenKind::MetricIdentifier,
            _ => TokenKind::Identifier,
        })
}

fn operator(lower: &str) -> Option<BinaryOp> {
    Some(match lower {
        "and" => BinaryOp::And,
        "or" => BinaryOp::Or,
        "unless" => BinaryOp::Unless,
        "atan2" => BinaryOp::Atan2,
        _ => return None,
    })
}

fn aggregation(lower: &str) -> Option<AggregateOp> {
    Some(match lower {
        "sum" => AggregateOp::Sum,
        "avg" => AggregateOp::Avg,
        "count" => AggregateOp::Count,
        "min" => AggregateOp::Min,
        "max" => AggregateOp::Max,
        "group" => AggregateOp::Group,
        "stddev" => AggregateOp::Stddev,
        "stdvar" => AggregateOp::Stdvar,
        "topk" => AggregateOp::TopK,
        "bottomk" => AggregateOp::BottomK,
        "count_values" => AggregateOp::CountValues,
        "quantile" => AggregateOp::Quantile,
        "limitk" => AggregateOp::LimitK,
        "limit_ratio" => AggregateOp::LimitRatio,
        _ => return None,
    })
}

fn keyword(lower: &str) -> Option<Keyword> {
    Some(match lower {
        "bool" => Keyword::Bool,
        "by" => Keyword::By,
        "without" => Keyword::Without,
        "on" => Keyword::On,
        "ignoring" => Keyword::Ignoring,
        "group_left" => Keyword::GroupLeft,
        "group_right" => Keyword::GroupRight,
        "fill" => Keyword::Fill,
        "fill_left" => Keyword::FillLeft,
        "fill_right" => Keyword::FillRight,
        "offset" => Keyword::Offset,
        "anchored" => Keyword::Anchored,
        "smoothed" => Keyword::Smoothed,
        _ => return None,
    })
}

fn context(lower: &str) -> Option<Context> {
    Some(match lower {
        "start" => Context::Start,
        "end" => Context::End,
        "step" => Context::Step,
        "range" => Context::Range,
        "min_of" => Context::MinOf,
        "max_of" => Context::MaxOf,
        _ => return None,
    })
}

/// The kind of a word inside a duration, if it has a meaning there. Prometheus 3.6 to 3.13 spelled
/// `min_of` and `max_of` as `min` and `max`.
pub(super) fn duration_word_kind(word: &str) -> Option<TokenKind> {
    let kind = match word.to_ascii_lowercase().as_str() {
        "step" => Context::Step,
        "range" => Context::Range,
        "min_of" | "min" => Context::MinOf,
        "max_of" | "max" => Context::MaxOf,
        _ => return None,
    };
    Some(TokenKind::Context(kind))
}

impl TokenKind {
    /// Whether the word may be the name of a metric.
    pub(super) fn names_metric(self) -> bool {
        match self {
            Self::Identifier | Self::MetricIdentifier | Self::Aggregate(_) | Self::Context(_) => {
                true
            }
            Self::Op(op) => matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Unless),
            Self::Keyword(keyword) => matches!(
                keyword,
                Keyword::By
                    | Keyword::Without
                    | Keyword::Fill
                    | Keyword::FillLeft
                    | Keyword::FillRight
                    | Keyword::Offset
                    | Keyword::Anchored
                    | Keyword::Smoothed
            ),
            _ => false,
        }
    }

    /// Whether the word may be the name of a label in a list of labels.
    pub(super) fn names_label(self) -> bool {
        match self {
            Self::Keyword(keyword) => keyword != Keyword::Without,
            Self::Op(BinaryOp::Atan2) => true,
            other => other.names_metric(),
        }
    }

    /// Whether an expression can begin with it.
    pub(super) fn starts_expression(self) -> bool {
        matches!(
            self,
            Self::Number
                | Self::Duration
                | Self::String
                | Self::LeftParen
                | Self::LeftBrace
                | Self::Op(BinaryOp::Add | BinaryOp::Sub)
        ) || self.names_metric()
    }
}

impl Token<'_> {
    /// The byte after the token.
    pub(super) fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// What errors call it: `identifier "x"`, `<op:+>`, `end of input`.
    pub(super) fn describe(&self) -> String {
        let kind = match self.kind {
            TokenKind::End => return "end of input".to_owned(),
            TokenKind::Identifier => return format!("identifier {}", quote(self.text)),
            TokenKind::MetricIdentifier => {
                return format!("metric identifier {}", quote(self.text));
            }
            TokenKind::Keyword(_) => return format!("<{}>", self.text),
            TokenKind::Aggregate(_) => return format!("<aggr:{}>", self.text),
            TokenKind::Op(_) | TokenKind::At | TokenKind::EqualRegex | TokenKind::NotRegex => {
                return format!("<op:{}>", self.text);
            }
            TokenKind::Number => "number ",
            TokenKind::Duration => "duration ",
            TokenKind::String => "string ",
            _ => "",
        };
        format!("{kind}{}", quote_first(self.text, 10))
    }
}
