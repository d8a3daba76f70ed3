//! The parts of an expression in, their names and types out.

use super::{AggregateOp, BinaryOp, Expr, ExprKind, ValueType};

impl Expr {
    /// The type of the expression's value. For a checked expression this is the type that it evaluates to.
    #[must_use]
    pub fn value_type(&self) -> ValueType {
        match &self.kind {
            ExprKind::Number(_) | ExprKind::Seconds(_) => ValueType::Scalar,
            ExprKind::String(_) => ValueType::String,
            ExprKind::Paren(expr) | ExprKind::Unary { expr, .. } => expr.value_type(),
            ExprKind::Binary(binary) => match (binary.left.value_type(), binary.right.value_type())
            {
                (ValueType::Scalar, ValueType::Scalar) => ValueType::Scalar,
                _ => ValueType::Vector,
            },
            ExprKind::Aggregate(_) | ExprKind::Vector(_) => ValueType::Vector,
            ExprKind::Call(call) => call.function.return_type,
            ExprKind::Matrix(_) | ExprKind::Subquery(_) => ValueType::Matrix,
        }
    }
}

impl ValueType {
    /// What Prometheus' documentation and most of its errors call the type.
    #[must_use]
    pub fn documented(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::String => "string",
            Self::Vector => "instant vector",
            Self::Matrix => "range vector",
        }
    }

    /// What the HTTP API and a few errors call the type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::String => "string",
            Self::Vector => "vector",
            Self::Matrix => "matrix",
        }
    }
}

impl BinaryOp {
    /// All operators, in the order of their variants.
    pub const ALL: [Self; 18] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Mod,
        Self::Pow,
        Self::Atan2,
        Self::Eql,
        Self::Neq,
        Self::Lte,
        Self::Lss,
        Self::Gte,
        Self::Gtr,
        Self::And,
        Self::Or,
        Self::Unless,
        Self::TrimUpper,
        Self::TrimLower,
    ];

    /// The operator as written in a query.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "%",
            Self::Pow => "^",
            Self::Atan2 => "atan2",
            Self::Eql => "==",
            Self::Neq => "!=",
            Self::Lte => "<=",
            Self::Lss => "<",
            Self::Gte => ">=",
            Self::Gtr => ">",
            Self::And => "and",
            Self::Or => "or",
            Self::Unless => "unless",
            Self::TrimUpper => "</",
            Self::TrimLower => ">/",
        }
    }

    /// Whether it compares, and so takes `bool`.
    #[must_use]
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Eql | Self::Neq | Self::Lte | Self::Lss | Self::Gte | Self::Gtr
        )
    }

    /// Whether it is `and`, `or` or `unless`.
    #[must_use]
    pub fn is_set(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Unless)
    }
}

impl AggregateOp {
    /// All operators, in the order of their variants.
    pub const ALL: [Self; 14] = [
        Self::Sum,
        Self::Avg,
        Self::Count,
        Self::Min,
        Self::Max,
        Self::Group,
        Self::Stddev,
        Self::Stdvar,
        Self::TopK,
        Self::BottomK,
        Self::CountValues,
        Self::Quantile,
        Self::LimitK,
        Self::LimitRatio,
    ];

    /// The name as written in a query.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Count => "count",
            Self::Min => "min",
            Self::Max => "max",
            Self::Group => "group",
            Self::Stddev => "stddev",
            Self::Stdvar => "stdvar",
            Self::TopK => "topk",
            Self::BottomK => "bottomk",
            Self::CountValues => "count_values",
            Self::Quantile => "quantile",
            Self::LimitK => "limitk",
            Self::LimitRatio => "limit_ratio",
        }
    }

    /// Whether a parameter stands before the expression.
    #[must_use]
    pub fn takes_parameter(self) -> bool {
        matches!(
            self,
            Self::TopK
                | Self::BottomK
                | Self::CountValues
                | Self::Quantile
                | Self::LimitK
                | Self::LimitRatio
        )
    }
}
