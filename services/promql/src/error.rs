//! What can go wrong between an expression and its value, by the kind that the HTTP API reports.

/// Why a query has no value. The texts are Prometheus' own where Prometheus has one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The query as written cannot be run (`bad_data`).
    #[error("{0}")]
    BadData(String),
    /// The data does not fit the query (`execution`).
    #[error("{0}")]
    Execution(String),
    /// More samples would be needed at once than the query may hold (`execution`).
    #[error("query processing would load too many samples into memory in query execution")]
    TooManySamples,
    /// More selectors that differ than the query may have (`execution`).
    #[error(
        "the query has {found} selectors, more than {limit} of which differ; select several metrics or label values \
         with one regular expression, or ask in several queries"
    )]
    TooManySelectors {
        /// Selectors in the expression, equal ones included.
        found: usize,
        /// Most that may differ.
        limit: usize,
    },
    /// The caller asked to stop: its client left, or time ran out (`canceled` or `timeout`, which the
    /// caller knows).
    #[error("query was canceled in expression evaluation")]
    Cancelled,
}

impl EvalError {
    /// Two samples of one result would carry the same labels.
    pub(crate) fn same_labelset() -> Self {
        Self::Execution("vector cannot contain metrics with the same labelset".to_owned())
    }
}
