//! What translation promises, rule by rule.
