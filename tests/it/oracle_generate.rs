//! A stream of random numbers → PromQL expressions that parse, and mean something more often than not.

use crate::oracle_data::FIRST;
use crate::oracle_random::Random;

const NAMES: [&str; 7] = ["g", "mixed", "big", "c_total", "one", "h_bucket", "nothing"];
const MATCHERS: [&str; 9] = [
    "a=\"x\"",
    "a!=\"x\"",
    "a=~\"x|y\"",
    "a!~\"y.*\"",
    "b=\"1\"",
    "b=~\".+\"",
    "missing=\"\"",
    "b!=\"\"",
    "a=~\"\"",
];
const RANGES: [&str; 8] = ["1s", "15s", "40s", "1m", "2m30s", "5m", "10m", "20m"];
const OVER_RANGE: [&str; 23] = [
    "rate",
    "increase",
    "delta",
    "irate",
    "idelta",
    "resets",
    "changes",
    "deriv",
    "sum_over_time",
    "avg_over_time",
    "min_over_time",
    "max_over_time",
    "count_over_time",
    "stddev_over_time",
    "stdvar_over_time",
    "last_over_time",
    "present_over_time",
    "absent_over_time",
    "mad_over_time",
    "rate",
    "increase",
    "sum_over_time",
    "avg_over_time",
];
const OF_ONE: [&str; 23] = [
    "abs",
    "ceil",
    "floor",
    "exp",
    "sqrt",
    "ln",
    "log2",
    "log10",
    "round",
    "sgn",
    "deg",
    "rad",
    "sin",
    "cos",
    "atan",
    "tanh",
    "timestamp",
    "sort",
    "sort_desc",
    "absent",
    "minute",
    "day_of_week",
    "hour",
];
const AGGREGATES: [&str; 8] = [
    "sum", "avg", "min", "max", "count", "stddev", "stdvar", "group",
];
const GROUPINGS: [&str; 9] = [
    "",
    "",
    " by (a)",
    " by (b)",
    " by (a, b)",
    " by (missing)",
    " without (a)",
    " without (le, b)",
    " by (__name__)",
];
const ARITHMETIC: [&str; 7] = ["+", "-", "*", "/", "%", "^", "atan2"];
const COMPARISONS: [&str; 6] = ["==", "!=", "<", ">", "<=", ">="];
const SETS: [&str; 3] = ["and", "or", "unless"];
const NUMBERS: [&str; 11] = [
    "0", "1", "2", "0.5", "-3", "1e3", "NaN", "Inf", "-Inf", "0.1", "7",
];
const QUANTILES: [&str; 7] = ["-1", "0", "0.25", "0.5", "0.99", "1", "2"];
const OFFSETS: [&str; 6] = ["15s", "1m", "-45s", "5m", "-3m", "20m"];

/// Writes expressions.
pub(crate) struct Generator {
    random: Random,
}

impl Generator {
    /// The expressions of `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
        }
    }

    /// The next expression: mostly a vector, sometimes a number.
    pub(crate) fn expression(&mut self) -> String {
        let depth = 1 + self.random.below(3);
        if self.random.once_in(20) {
            self.scalar(depth)
        } else {
            self.vector(depth)
        }
    }

    fn one(&mut self, choices: &[&'static str]) -> &'static str {
        self.random.one(choices)
    }

    fn selector(&mut self) -> String {
        let count = self.random.below(3);
        let matchers: Vec<&str> = (0..count).map(|_| self.one(&MATCHERS)).collect();
        let matchers = matchers.join(",");
        if self.random.once_in(15) {
            return format!("{{__name__=~\"g|big|c_.*\",{matchers}}}");
        }
        let name = self.one(&NAMES);
        if matchers.is_empty() {
            name.to_owned()
        } else {
            format!("{name}{{{matchers}}}")
        }
    }

    /// `offset`, `@`, both or nothing.
    fn moved(&mut self) -> String {
        let mut text = String::new();
        if self.random.once_in(6) {
            text += &format!(" offset {}", self.one(&OFFSETS));
        }
        if self.random.once_in(9) {
            text += &match self.random.below(4) {
                0 => " @ start()".to_owned(),
                1 => " @ end()".to_owned(),
                _ => format!(
                    " @ {}.{:03}",
                    FIRST / 1000 + i64::from(self.random.below(3000)),
                    self.random.below(1000)
                ),
            };
        }
        text
    }

    fn matrix(&mut self, depth: u32) -> String {
        let range = self.one(&RANGES);
        if depth > 1 && self.random.once_in(4) {
            let step = self.one(&["", "15s", "30s", "1m", "7s"]);
            let inner = self.vector(depth - 1);
            return format!("({inner})[{range}:{step}]{}", self.moved());
        }
        format!("{}[{range}]{}", self.selector(), self.moved())
    }

    fn scalar(&mut self, depth: u32) -> String {
        match self.random.below(if depth > 1 { 7 } else { 4 }) {
            0 => "time()".to_owned(),
            1..=3 => self.one(&NUMBERS).to_owned(),
            4 => format!("scalar({})", self.vector(depth - 1)),
            5 => {
                let operator = self.one(&ARITHMETIC[..6]);
                format!(
                    "({} {operator} {})",
                    self.scalar(depth - 1),
                    self.scalar(depth - 1)
                )
            }
            _ => {
                let operator = self.one(&COMPARISONS);
                format!(
                    "({} {operator} bool {})",
                    self.scalar(depth - 1),
                    self.scalar(depth - 1)
                )
            }
        }
    }

    fn vector(&mut self, depth: u32) -> String {
        if depth == 0 {
            return format!("{}{}", self.selector(), self.moved());
        }
        match self.random.below(20) {
            0..=4 => self.over_range(depth),
            5..=8 => self.aggregate(depth),
            9..=12 => self.binary(depth),
            13 => {
                let operator = self.one(&ARITHMETIC[..6]);
                format!(
                    "{} {operator} {}",
                    self.scalar(depth - 1),
                    self.operand(depth - 1)
                )
            }
            14 => self.compared(depth),
            15 | 16 => format!("{}({})", self.one(&OF_ONE), self.vector(depth - 1)),
            17 => self.special(depth),
            18 => format!("-{}", self.operand(depth - 1)),
            _ => self.vector(0),
        }
    }

    fn over_range(&mut self, depth: u32) -> String {
        let matrix = self.matrix(depth);
        match self.random.below(12) {
            0 => format!("quantile_over_time({}, {matrix})", self.one(&QUANTILES)),
            1 => format!("predict_linear({matrix}, {})", self.one(&NUMBERS)),
            2 => format!("double_exponential_smoothing({matrix}, 0.3, 0.6)"),
            _ => format!("{}({matrix})", self.one(&OVER_RANGE)),
        }
    }

    fn aggregate(&mut self, depth: u32) -> String {
        let inner = self.vector(depth - 1);
        let grouping = self.one(&GROUPINGS);
        match self.random.below(8) {
            0 => {
                let name = self.one(&["topk", "bottomk", "limitk"]);
                format!("{name}{grouping} ({}, {inner})", self.random.below(4))
            }
            1 => format!("quantile{grouping} ({}, {inner})", self.one(&QUANTILES)),
            2 if self.random.once_in(2) => format!("count_values{grouping} (\"v\", {inner})"),
            _ => format!("{}{grouping} ({inner})", self.one(&AGGREGATES)),
        }
    }

    /// In parentheses, so that operators bind as they stand.
    fn operand(&mut self, depth: u32) -> String {
        format!("({})", self.vector(depth))
    }

    fn compared(&mut self, depth: u32) -> String {
        let (left, right) = (self.operand(depth - 1), self.scalar(depth - 1));
        let operator = self.one(&COMPARISONS);
        let boolean = if self.random.once_in(2) { "bool " } else { "" };
        format!("{left} {operator} {boolean}{right}")
    }

    fn binary(&mut self, depth: u32) -> String {
        let (left, right) = (self.operand(depth - 1), self.operand(depth - 1));
        let matching = self.one(&[
            "",
            "",
            "on (a) ",
            "on (a, b) ",
            "ignoring (b) ",
            "ignoring (le, job) ",
            "on () ",
        ]);
        match self.random.below(6) {
            0 => format!("{left} {} {matching}{right}", self.one(&SETS)),
            1 => {
                let boolean = self.one(&["", "bool "]);
                format!(
                    "{left} {} {boolean}{matching}{right}",
                    self.one(&COMPARISONS)
                )
            }
            2 | 3 => {
                let side = self.one(&[
                    "group_left ",
                    "group_left (extra) ",
                    "group_right ",
                    "group_right (b) ",
                ]);
                let matching = self.one(&["on (a) ", "ignoring (b, extra) ", "on (a, job) "]);
                let operator = self.one(&ARITHMETIC);
                format!("{left} {operator} {matching}{side}{right}")
            }
            _ => format!("{left} {} {matching}{right}", self.one(&ARITHMETIC)),
        }
    }

    fn special(&mut self, depth: u32) -> String {
        let inner = self.vector(depth - 1);
        match self.random.below(7) {
            0 => {
                let range = self.one(&RANGES);
                let quantile = self.one(&QUANTILES);
                format!("histogram_quantile({quantile}, rate(h_bucket[{range}]))")
            }
            1 => format!("label_replace({inner}, \"n\", \"$1-\", \"a\", \"(x|y)\")"),
            2 => format!("label_join({inner}, \"n\", \"-\", \"a\", \"b\")"),
            3 => format!("clamp({inner}, {}, {})", self.scalar(0), self.scalar(0)),
            4 => format!("clamp_max({inner}, {})", self.scalar(0)),
            5 => format!("round({inner}, {})", self.one(&["0.1", "5", "1e-3"])),
            _ => format!("vector({})", self.scalar(depth)),
        }
    }
}
