//! The shape of a parsed expression; positions are byte offsets into the query text.

mod names;

use std::ops::Range;

/// An expression and where it stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The bytes of the query text that it covers.
    pub span: Range<usize>,
}

/// The kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `42`, `NaN`.
    Number(f64),
    /// `1h`: a number of seconds that was written as a duration and is printed as one.
    Seconds(f64),
    /// `"text"`.
    String(String),
    /// `(expr)`.
    Paren(Box<Expr>),
    /// `-expr` or `+expr`.
    Unary { negate: bool, expr: Box<Expr> },
    /// `left op right`.
    Binary(Box<Binary>),
    /// `sum by (a) (expr)`.
    Aggregate(Box<Aggregate>),
    /// `rate(expr)`.
    Call(Box<Call>),
    /// `name{a="b"} offset 5m @ 100`.
    Vector(Box<VectorSelector>),
    /// `name{a="b"}[5m] offset 5m`.
    Matrix(Box<MatrixSelector>),
    /// `expr[1h:5m] offset 5m`.
    Subquery(Box<Subquery>),
}

/// The four types that an expression can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// One number per step.
    Scalar,
    /// One string.
    String,
    /// At most one sample a series and step.
    Vector,
    /// All samples of a window.
    Matrix,
}

/// Operators between two expressions, in Prometheus' spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
    Atan2,
    /// `==`
    Eql,
    /// `!=`
    Neq,
    /// `<=`
    Lte,
    /// `<`
    Lss,
    /// `>=`
    Gte,
    /// `>`
    Gtr,
    And,
    Or,
    Unless,
    /// `</`: keeps the part of a histogram below a value.
    TrimUpper,
    /// `>/`: keeps the part of a histogram above a value.
    TrimLower,
}

/// `left op [bool] [on(…)|ignoring(…)] [group_left(…)|group_right(…)] [fill…] right`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binary {
    pub op: BinaryOp,
    pub left: Expr,
    pub right: Expr,
    /// `bool` was given: comparisons answer 0 or 1 instead of filtering.
    pub returns_bool: bool,
    /// How the series of both sides meet; `None` where a side is a scalar.
    pub matching: Option<Matching>,
}

/// Vector matching of a binary operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Matching {
    pub card: Cardinality,
    /// `on` (true) or `ignoring` (false); without either: false and no labels.
    pub on: bool,
    /// The labels of `on(…)`/`ignoring(…)`.
    pub labels: Vec<String>,
    /// The labels of `group_left(…)`/`group_right(…)`.
    pub include: Vec<String>,
    /// `fill(…)`/`fill_left(…)`: what stands for a missing left side.
    pub fill_left: Option<f64>,
    /// `fill(…)`/`fill_right(…)`: what stands for a missing right side.
    pub fill_right: Option<f64>,
}

/// How many series of each side may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    OneToOne,
    /// `group_left`.
    ManyToOne,
    /// `group_right`.
    OneToMany,
    /// Set operators.
    ManyToMany,
}

/// Aggregation operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggregateOp {
    Sum,
    Avg,
    Count,
    Min,
    Max,
    Group,
    Stddev,
    Stdvar,
    TopK,
    BottomK,
    CountValues,
    Quantile,
    LimitK,
    LimitRatio,
}

/// `op by|without (labels) ([param,] expr)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    pub op: AggregateOp,
    pub expr: Expr,
    pub param: Option<Expr>,
    pub without: bool,
    pub labels: Vec<String>,
}

/// `function(args)`; the parser has checked name, number and types of the arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub function: &'static crate::functions::Function,
    pub args: Vec<Expr>,
}

/// An instant selector.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorSelector {
    /// The name before the braces; it is also the last of `matchers`. A quoted name inside the braces is a
    /// matcher alone.
    pub name: Option<String>,
    pub matchers: Vec<Matcher>,
    pub modifiers: Modifiers,
    /// `anchored` or `smoothed`, where given (also meaningful on the selector of a matrix).
    pub smoothing: Smoothing,
}

/// The extended range selectors of Prometheus 3.x.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Smoothing {
    #[default]
    None,
    Anchored,
    Smoothed,
}

/// `selector[range]`; offset and `@` stand on the selector inside.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixSelector {
    pub selector: VectorSelector,
    /// Where the selector stands without its range.
    pub selector_span: Range<usize>,
    pub range: Duration,
}

/// `expr[range:step]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Subquery {
    pub expr: Expr,
    pub range: Duration,
    /// `None`: the engine's default step.
    pub step: Option<Duration>,
    pub modifiers: Modifiers,
}

/// `offset …` and `@ …`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Modifiers {
    pub offset: Option<Duration>,
    pub at: Option<At>,
}

/// The `@` modifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    /// Milliseconds since the Unix epoch.
    Time(i64),
    Start,
    End,
}

/// A duration in brackets or after `offset`: a literal, or an expression that needs the query's step
/// and range to be known.
#[derive(Clone, Debug, PartialEq)]
pub enum Duration {
    /// Milliseconds; negative only after `offset`.
    Millis(i64),
    /// `5m * 2`, `step()`, `min(1h, range())` …
    Expr(Box<DurationExpr>),
}

/// The arithmetic of duration expressions; numbers are seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct DurationExpr {
    pub kind: DurationKind,
    pub span: Range<usize>,
}

/// The kinds of duration expression.
#[derive(Clone, Debug, PartialEq)]
pub enum DurationKind {
    /// `300`
    Number(f64),
    /// `5m`, as seconds; a number in all but print.
    Seconds(f64),
    /// `step()`
    Step,
    /// `range()`
    Range,
    Negate(DurationExprBox),
    Paren(DurationExprBox),
    Binary {
        op: BinaryOp,
        left: DurationExprBox,
        right: DurationExprBox,
    },
    Min(DurationExprBox, DurationExprBox),
    Max(DurationExprBox, DurationExprBox),
}

/// A nested duration expression.
pub type DurationExprBox = Box<DurationExpr>;

/// One condition on a label. Regexes are kept as text here; [`crate::select`] compiles them, anchored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Matcher {
    pub name: String,
    pub op: MatchOp,
    pub value: String,
}

/// How a matcher compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchOp {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `=~`
    Regex,
    /// `!~`
    NotRegex,
}
