//! A histogram loses the observations above or below a value (PromQL's `</` and `>/`).

use super::{Bucket, Histogram};

/// Which part of a histogram stays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Below,
    Above,
}

/// How observations lie within a bucket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spread {
    Linear,
    Positive,
    Negative,
}

/// What stays, added up.
#[derive(Default)]
struct Kept {
    count: f64,
    sum: f64,
    /// Whether anything went.
    trimmed: bool,
}

/// The part of one bucket that stays.
struct Part {
    count: f64,
    /// Where its observations are taken to be.
    middle: f64,
}

impl Histogram {
    /// Keeps the observations up to `limit` (`histogram </ limit`); the bucket around it is interpolated.
    /// Count and sum are estimated anew from the buckets if anything goes.
    pub fn trim_above(&mut self, limit: f64) {
        self.trim(limit, Keep::Below);
    }

    /// Keeps the observations from `limit` on (`histogram >/ limit`), as [`Self::trim_above`] does.
    pub fn trim_below(&mut self, limit: f64) {
        self.trim(limit, Keep::Above);
    }

    fn trim(&mut self, limit: f64, keep: Keep) {
        let mut kept = Kept::default();
        let positive: Vec<Bucket> = self.positive_buckets().collect();
        let negative: Vec<Bucket> = self.negative_buckets().collect();
        let above = if self.has_custom_bounds() {
            Spread::Linear
        } else {
            Spread::Positive
        };
        kept.trim_buckets(self.positive.counts_mut(), &positive, |bucket| {
            keep.part(bucket, limit, above)
        });
        kept.trim_buckets(self.negative.counts_mut(), &negative, |bucket| {
            keep.part(bucket, limit, Spread::Negative)
        });
        if self.zero_count > 0.0 {
            let populated = |buckets: &[Bucket]| buckets.iter().any(|bucket| bucket.count != 0.0);
            let mut zero = self.zero_bucket();
            match (populated(&negative), populated(&positive)) {
                (true, false) => zero.upper = 0.0,
                (false, true) => zero.lower = 0.0,
                _ => {}
            }
            let part = keep.zero_part(&zero, limit);
            kept.trimmed |= self.zero_count != part.count;
            self.zero_count = part.count;
            kept.sum += part.middle * part.count;
            kept.count += part.count;
        }
        if kept.trimmed {
            self.count = kept.count;
            self.sum = kept.sum;
            self.compact();
        }
    }
}

impl Kept {
    fn trim_buckets(
        &mut self,
        counts: &mut [f64],
        buckets: &[Bucket],
        part: impl Fn(&Bucket) -> Option<Part>,
    ) {
        for (count, bucket) in counts
            .iter_mut()
            .zip(buckets)
            .filter(|(_, bucket)| bucket.count != 0.0)
        {
            match part(bucket) {
                Some(part) => {
                    self.count += part.count;
                    self.sum += part.middle * part.count;
                    self.trimmed |= *count != part.count;
                    *count = part.count;
                }
                None => {
                    self.trimmed = true;
                    *count = 0.0;
                }
            }
        }
    }
}

impl Keep {
    /// What stays of a bucket; nothing if it is wholly on the other side.
    fn part(self, bucket: &Bucket, limit: f64, spread: Spread) -> Option<Part> {
        let (whole, cut) = match self {
            Self::Below => (bucket.upper <= limit, bucket.lower < limit),
            Self::Above => (bucket.lower >= limit, bucket.upper > limit),
        };
        if whole {
            return Some(Part {
                count: bucket.count,
                middle: middle(bucket.lower, bucket.upper, spread),
            });
        }
        if !cut {
            return None;
        }
        if bucket.lower == f64::NEG_INFINITY {
            return Some(self.part_open_below(bucket, limit));
        }
        if bucket.upper == f64::INFINITY {
            return Some(self.part_open_above(bucket, limit));
        }
        let below = bucket.count_below(limit, spread == Spread::Linear);
        Some(match self {
            Self::Below => Part {
                count: below,
                middle: middle(bucket.lower, limit, spread),
            },
            Self::Above => Part {
                count: bucket.count - below,
                middle: middle(limit, bucket.upper, spread),
            },
        })
    }

    /// What stays of a bucket from -Inf that holds `limit`: with a positive upper bound, zero is taken for its
    /// lower one; otherwise nothing is known about its inside.
    fn part_open_below(self, bucket: &Bucket, limit: f64) -> Part {
        let upper = bucket.upper;
        let nothing = Part {
            count: 0.0,
            middle: zero_if_infinite(upper),
        };
        match self {
            Self::Below if limit > 0.0 && upper > 0.0 && upper != f64::INFINITY => Part {
                count: bucket.count * limit / upper,
                middle: limit / 2.0,
            },
            Self::Below if upper <= 0.0 => Part {
                count: bucket.count,
                middle: limit,
            },
            Self::Below => nothing,
            Self::Above if limit >= 0.0 && upper > limit && upper != f64::INFINITY => Part {
                count: bucket.count * (1.0 - limit / upper),
                middle: (limit + upper) / 2.0,
            },
            Self::Above => nothing,
        }
    }

    /// What stays of a bucket to +Inf that holds `limit`: all of it above the limit, nothing below.
    fn part_open_above(self, bucket: &Bucket, limit: f64) -> Part {
        match self {
            Self::Above if limit >= bucket.lower => Part {
                count: bucket.count,
                middle: limit,
            },
            _ => Part {
                count: 0.0,
                middle: zero_if_infinite(bucket.lower),
            },
        }
    }

    /// What stays of the zero bucket, by linear interpolation.
    fn zero_part(self, zero: &Bucket, limit: f64) -> Part {
        let all = Part {
            count: zero.count,
            middle: (zero.lower + zero.upper) / 2.0,
        };
        let nothing = Part {
            count: 0.0,
            middle: 0.0,
        };
        let width = zero.upper - zero.lower;
        match self {
            Self::Below if limit <= zero.lower => nothing,
            Self::Below if limit >= zero.upper => all,
            Self::Below => Part {
                count: zero.count * ((limit - zero.lower) / width),
                middle: (zero.lower + limit) / 2.0,
            },
            Self::Above if limit <= zero.lower => all,
            Self::Above if limit >= zero.upper => nothing,
            Self::Above => Part {
                count: zero.count * ((zero.upper - limit) / width),
                middle: (limit + zero.upper) / 2.0,
            },
        }
    }
}

impl Bucket {
    /// The observations at or below `limit`.
    fn count_below(&self, limit: f64, linear: bool) -> f64 {
        if limit <= self.lower {
            0.0
        } else if limit >= self.upper {
            self.count
        } else {
            self.count * self.fraction_below(limit, linear)
        }
    }
}

fn zero_if_infinite(bound: f64) -> f64 {
    if bound.is_infinite() { 0.0 } else { bound }
}

/// Where the observations between two bounds are taken to be.
fn middle(lower: f64, upper: f64, spread: Spread) -> f64 {
    match (lower.is_infinite(), upper.is_infinite(), spread) {
        (true, true, _) => 0.0,
        (true, false, _) if upper > 0.0 => upper / 2.0,
        (true, false, _) => upper,
        (false, true, _) => lower,
        (false, false, Spread::Linear) => (lower + upper) / 2.0,
        (false, false, Spread::Positive) => (lower * upper).abs().sqrt(),
        (false, false, Spread::Negative) => -(lower * upper).abs().sqrt(),
    }
}
