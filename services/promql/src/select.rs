//! An expression and its time range become the list of what to fetch and a tree that can be evaluated.

use crate::ast::{Expr, Matcher};
use crate::error::EvalError;

pub(crate) mod duration;
pub(crate) mod lower;
pub(crate) mod matcher;
pub(crate) mod node;

pub use matcher::MatcherSet;

use lower::Lowering;
use node::Node;

/// When and how an expression is evaluated. Times and durations are milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The first evaluation time.
    pub start: i64,
    /// No evaluation time is later; equal to `start` for an instant query.
    pub end: i64,
    /// Distance of evaluation times; 0 for an instant query.
    pub step: i64,
    /// How far an instant selector looks back (the far end is excluded).
    pub lookback: i64,
    /// The step of `[1h:]`.
    pub default_subquery_step: i64,
    /// Most samples that may be held at one time.
    pub max_samples: usize,
    /// Most selections: selectors that differ, or that read windows which do not meet.
    pub max_selections: usize,
    /// What is switched on.
    pub features: Features,
}

/// Prometheus' `--enable-feature` switches that change results; the default is a server's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// `__name__` is dropped at the very end of a query instead of at every operation.
    pub delayed_name_removal: bool,
    /// `rate`, `irate`, `increase`, `resets` and `start_timestamp` use the start times of samples.
    pub start_timestamps: bool,
    /// `rate` and `increase` look at `__type__` instead of at the ending of the name.
    pub type_and_unit_labels: bool,
}

impl Params {
    /// One evaluation at `at` with Prometheus' default limits.
    #[must_use]
    pub fn instant(at: i64) -> Self {
        Self {
            start: at,
            end: at,
            step: 0,
            lookback: 300_000,
            default_subquery_step: 60_000,
            max_samples: 50_000_000,
            max_selections: usize::MAX,
            features: Features::default(),
        }
    }

    /// Evaluations from `start` to `end`, `step` apart, with Prometheus' default limits.
    #[must_use]
    pub fn range(start: i64, end: i64, step: i64) -> Self {
        Self {
            end,
            step,
            ..Self::instant(start)
        }
    }
}

/// One thing to fetch: the samples of all series that match, within `(start, end]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// All of these must hold; [`MatcherSet`] compiles them.
    pub matchers: Vec<Matcher>,
    /// Samples at or before this time (milliseconds) are not needed.
    pub start: i64,
    /// Samples after this time (milliseconds) are not needed.
    pub end: i64,
    /// Whether whole windows are read, not just the latest sample at each step.
    pub is_range: bool,
    /// Distance of the evaluation times in milliseconds; 0 where there is one.
    pub step: i64,
    /// The function or aggregation right around the selector, where the same for all uses.
    pub function: Option<&'static str>,
    /// The labels that an aggregation right around the selector keeps (`true`) or drops (`false`).
    pub grouping: Option<(bool, Vec<String>)>,
}

impl Selection {
    /// All samples of what matches, after `start` and up to `end` (milliseconds), for uses without an
    /// expression.
    #[must_use]
    pub fn window(matchers: Vec<Matcher>, start: i64, end: i64) -> Self {
        Self {
            matchers,
            start,
            end,
            is_range: true,
            step: 0,
            function: None,
            grouping: None,
        }
    }
}

/// An expression that is ready to be evaluated once its selections are fetched.
#[derive(Clone, Debug)]
pub struct Plan {
    expr: Expr,
    params: Params,
    selections: Vec<Selection>,
    root: Node,
    text: Option<String>,
}

impl Plan {
    /// Resolves durations and times, and finds what is to be fetched.
    ///
    /// # Errors
    ///
    /// [`EvalError::BadData`] for a duration expression that is not a valid duration here, for a regex
    /// that does not compile, and for a range query over something that is neither scalar nor vector;
    /// [`EvalError::TooManySelectors`] for more selections than [`Params::max_selections`].
    pub fn new(expr: Expr, params: Params) -> Result<Self, EvalError> {
        if params.step < 0 || params.end < params.start {
            let text = "end timestamp must not be before start time".to_owned();
            return Err(EvalError::BadData(text));
        }
        let mut lowering = Lowering::new(&params);
        let root = lowering.root(&expr)?;
        let selections = lowering.into_selections();
        for selection in &selections {
            MatcherSet::new(&selection.matchers)?;
        }
        Ok(Self {
            expr,
            params,
            selections,
            root,
            text: None,
        })
    }

    /// Gives the query's text, so that `(line:col)` in annotations is right for queries of several
    /// lines; without it a query counts as one line.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Self {
        self.text = Some(text.to_owned());
        self
    }

    /// What is to be fetched; [`crate::eval::evaluate`] takes the answers in this order.
    #[must_use]
    pub fn selections(&self) -> &[Selection] {
        &self.selections
    }

    /// The expression as parsed.
    #[must_use]
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// When and how it is evaluated.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The tree to evaluate.
    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// The query's text, where it was given.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}
