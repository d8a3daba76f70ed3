//! Mistakes that other PromQL systems have made and what is right, in the corpus' notation: number, rule, and
//! data with evaluations.

/// One case.
pub(crate) type Case = (u32, &'static str, &'static str);

/// Windows, staleness, and what a selector finds.
pub(crate) const SELECTING: &[Case] = &[
    (
        1,
        "a step as long as the window gives values",
        "load 1m\n x 0+60x20\n\neval range from 5m to 15m step 5m rate(x[300s])\n {} 1 1 1\n",
    ),
    (
        3,
        "a selector without labels gives what one with labels gives",
        "load 1m\n x{a=\"1\"} 7 8\n\neval instant at 1m x\n x{a=\"1\"} 8\n\neval instant at 1m x{a=\"1\"}\n x{a=\"1\"} 8\n",
    ),
    (
        5,
        "the order of labels is no part of a series",
        "load 1m\n x{a=\"1\",b=\"2\"} 1\n\nload 1m\n x{b=\"2\",a=\"1\"} _ 2\n\neval instant at 1m count_over_time(x[5m])\n {a=\"1\",b=\"2\"} 2\n",
    ),
    (
        7,
        "an empty label is an absent one, and series that become equal are one",
        "load 1m\n x{a=\"\",b=\"1\"} 1\n\nload 1m\n x{b=\"1\"} _ 2\n\neval instant at 1m count_over_time(x[5m])\n {b=\"1\"} 2\n\neval instant at 1m x{a=\"\"}\n x{b=\"1\"} 2\n\neval instant at 1m sum without (b) (x)\n {} 2\n",
    ),
    (
        8,
        "a stale marker ends a series, is no sample of a rate and never a zero",
        "load 1m\n x 0 60 120 stale\n\neval range from 1m to 4m step 1m x\n x 60 120\n\neval instant at 3m count_over_time(x[5m])\n {} 3\n\neval instant at 3m increase(x[3m])\n {} 180\n",
    ),
    (
        11,
        "NaN and infinities are values like others",
        "load 1m\n x{a=\"n\"} NaN\n x{a=\"p\"} Inf\n x{a=\"m\"} -Inf\n\neval instant at 0 x\n x{a=\"n\"} NaN\n x{a=\"p\"} Inf\n x{a=\"m\"} -Inf\n",
    ),
    (
        12,
        "a window is open on its left side",
        "load 1m\n x 1 2 3\n\neval instant at 2m count_over_time(x[2m])\n {} 2\n\neval instant at 2m sum_over_time(x[2m])\n {} 5\n",
    ),
    (
        13,
        "a window shorter than the step finds nothing between the samples",
        "load 5m\n x 1 2 3\n\neval range from 1m to 11m step 5m last_over_time(x[30s])\n",
    ),
    (
        22,
        "a range selector gives raw samples with their own times",
        "load 7s\n x 1 2 3 4\n\neval instant at 22s x[16s]\n expect range vector from 7s to 21s step 7s\n x 2 3 4\n",
    ),
    (
        31,
        "a rate takes samples in its window only and extrapolates",
        "load 1m\n x 0 1000 1060 1120\n\neval instant at 3m rate(x[2m])\n {} 1\n",
    ),
    (
        32,
        "a rate ends when its window has passed the end of the series",
        "load 1m\n x 0 60 120\n\neval range from 2m to 8m step 1m rate(x[5m])\n {} 0.4 0.6 0.5 0.5\n",
    ),
    (
        33,
        "the end of a range is part of it",
        "load 1m\n x 1 2 3\n\neval range from 0 to 2m step 1m x\n x 1 2 3\n",
    ),
    (
        47,
        "each step looks back five minutes and no further",
        "load 1m\n x 1\n\neval range from 0 to 30m step 10m x\n x 1\n\neval instant at 4m59s x\n x 1\n\neval instant at 5m x\n",
    ),
];

/// Functions and their arithmetic.
pub(crate) const COMPUTING: &[Case] = &[
    (
        14,
        "NaN after NaN is no change",
        "load 1m\n x NaN NaN NaN 1 1\n\neval instant at 2m changes(x[5m])\n {} 0\n\neval instant at 4m changes(x[5m])\n {} 1\n",
    ),
    (
        15,
        "a derivative is per second",
        "load 1m\n x 0 120 240\n\neval instant at 2m deriv(x[5m])\n {} 2\n",
    ),
    (
        16,
        "an offset of a window is an evaluation at another time",
        "load 1m\n x 0 1 3 6 10 15 21\n\neval instant at 6m sum_over_time(x[2m] offset 3m)\n {} 9\n\neval instant at 3m sum_over_time(x[2m])\n {} 9\n",
    ),
    (
        17,
        "quantiles outside 0 to 1 are infinite, and a bucket without a bound is left out",
        "load 1m\n x{a=\"1\"} 3\n h{le=\"1\"} 1\n h{le=\"+Inf\"} 2\n h 9\n\neval instant at 0 quantile(2, x)\n expect warn\n {} Inf\n\neval instant at 0 quantile(-1, x)\n expect warn\n {} -Inf\n\neval instant at 0 quantile(NaN, x)\n expect warn\n {} NaN\n\neval instant at 0 histogram_quantile(0.5, h)\n expect warn\n {} 1\n",
    ),
    (
        18,
        "ten times 0.1 is 1",
        "load 1m\n x{a=\"0\"} 0.1\n x{a=\"1\"} 0.1\n x{a=\"2\"} 0.1\n x{a=\"3\"} 0.1\n x{a=\"4\"} 0.1\n x{a=\"5\"} 0.1\n x{a=\"6\"} 0.1\n x{a=\"7\"} 0.1\n x{a=\"8\"} 0.1\n x{a=\"9\"} 0.1\n\neval instant at 0 sum(x) == 1\n {} 1\n",
    ),
    (
        19,
        "a stale series is not counted, an ordinary NaN is",
        "load 1m\n x{a=\"1\"} 1 stale\n x{a=\"2\"} 1 NaN\n x{a=\"3\"} 1 1\n\neval instant at 1m count(x)\n {} 2\n",
    ),
    (
        20,
        "of two values at one time the same one is always taken",
        "load 1m\n x NaN\n\nload 1m\n x 5\n\neval instant at 0 x\n x 5\n\nclear\n\nload 1m\n x 5\n\nload 1m\n x NaN\n\neval instant at 0 x\n x 5\n",
    ),
    (
        21,
        "irate has no name, and its values are in order of time",
        "load 1m\n x{a=\"1\"} 0 60 180\n\neval range from 1m to 2m step 1m irate(x[5m])\n {a=\"1\"} 1 2\n",
    ),
    (
        23,
        "time is the time of evaluation in seconds",
        "eval instant at 90s time()\n 90\n",
    ),
    (
        34,
        "a range equals the instants at its steps",
        "load 30s\n x 0 1 4 2 8 16 1 3 9\n\neval range from 1m to 3m step 1m increase(x[90s])\n {} 4 12 13.5\n\neval instant at 1m increase(x[90s])\n {} 4\n",
    ),
    (
        36,
        "a rate is the increase per second",
        "load 15s\n x 0 3 7 12 1 9 20\n\neval instant at 90s rate(x[1m]) * 60 == increase(x[1m])\n {} 26.666666666666664\n",
    ),
    (
        42,
        "a quantile over all series of a histogram does not depend on where they are",
        "load 1m\n h_bucket{le=\"1\",p=\"a\"} 1\n h_bucket{le=\"2\",p=\"a\"} 3\n h_bucket{le=\"+Inf\",p=\"a\"} 4\n h_bucket{le=\"1\",p=\"b\"} 3\n h_bucket{le=\"2\",p=\"b\"} 5\n h_bucket{le=\"+Inf\",p=\"b\"} 6\n\neval instant at 0 histogram_quantile(0.5, sum by (le) (h_bucket))\n {} 1.25\n",
    ),
    (
        48,
        "a mean is a compensated sum divided, until that overflows",
        "load 1m\n x{a=\"1\"} 1e308\n x{a=\"2\"} 1e308\n y{a=\"1\"} 1e16\n y{a=\"2\"} 1\n y{a=\"3\"} -1e16\n\neval instant at 0 avg(x)\n {} 1e308\n\neval instant at 0 avg(y)\n {} 0.3333333333333333\n",
    ),
];

/// Operators, aggregation, labels.
pub(crate) const COMBINING: &[Case] = &[
    (
        4,
        "functions over a regular expression of names fail where labels meet",
        "load 1m\n a{x=\"1\"} 1 2\n b{x=\"1\"} 1 2\n\neval instant at 1m rate({__name__=~\"a|b\"}[5m])\n expect fail msg: vector cannot contain metrics with the same labelset\n",
    ),
    (
        24,
        "a vector of a number combines with a metric",
        "load 1m\n m 7\n\neval instant at 0 vector(1) * m\n {} 7\n",
    ),
    (
        25,
        "an aggregation takes an expression with time()",
        "load 1m\n m{x=\"a\"} 4\n m{x=\"b\"} 5\n\neval instant at 0 min by (x) ((time() - m) * 0 + m)\n {x=\"a\"} 4\n {x=\"b\"} 5\n",
    ),
    (
        26,
        "sort takes an expression",
        "load 1m\n m{x=\"a\"} 3\n m{x=\"b\"} 2\n m{x=\"c\"} 1\n\neval instant at 0 sort(m > 1)\n expect ordered\n m{x=\"b\"} 2\n m{x=\"a\"} 3\n",
    ),
    (
        27,
        "counts of counts divide, and capital letters stay",
        "load 1m\n Alpha{cpu=\"0\"} 6\n Alpha{cpu=\"1\"} 2\n B{cpu=\"0\"} 1\n B{cpu=\"1\"} 1\n\neval instant at 0 avg(Alpha) / count(count(B) by (cpu))\n {} 2\n\neval instant at 0 Alpha{cpu=\"0\"}\n Alpha{cpu=\"0\"} 6\n\neval instant at 0 alpha\n",
    ),
    (
        37,
        "group_left keeps the labels of its side and takes those that are named",
        "load 1m\n many{a=\"1\",b=\"x\"} 6\n many{a=\"1\",b=\"y\"} 8\n one{a=\"1\",v=\"2\",w=\"3\"} 2\n\neval instant at 0 many / on (a) group_left (v) one\n {a=\"1\",b=\"x\",v=\"2\"} 3\n {a=\"1\",b=\"y\",v=\"2\"} 4\n",
    ),
    (
        38,
        "the order of labels in by does not matter",
        "load 1m\n x{a=\"1\",b=\"2\"} 1\n x{a=\"1\",b=\"2\",c=\"3\"} 2\n\neval instant at 0 sum by (b, a) (x)\n {a=\"1\",b=\"2\"} 3\n\neval instant at 0 sum by (a, b) (x)\n {a=\"1\",b=\"2\"} 3\n",
    ),
    (
        39,
        "a sum compares as a bool",
        "load 1m\n up{a=\"1\"} 1\n up{a=\"2\"} 1\n\neval instant at 0 sum(up) > bool 0\n {} 1\n",
    ),
    (
        40,
        "a comparison with NaN as a bool is 0",
        "load 1m\n m 1\n\neval instant at 0 scalar(nothing) >= bool scalar(m)\n 0\n\neval instant at 0 m == bool NaN\n {} 0\n",
    ),
    (
        41,
        "series of windows that become one fail the range though they never meet in one step, instants do not",
        "load 1m\n a{x=\"1\"} 1 2 _ _ _ _ _ _ _ _\n b{x=\"1\"} _ _ _ _ _ _ _ _ 1 2\n\neval range from 0 to 9m step 1m rate({__name__=~\"a|b\"}[2m])\n expect fail msg: vector cannot contain metrics with the same labelset\n\neval range from 0 to 9m step 1m abs({__name__=~\"a|b\"})\n {x=\"1\"} 1 2 2 2 2 2 _ _ 1 2\n",
    ),
];
