//! Elementary functions: a float becomes exactly the float that Prometheus gives.
//!
//! IEEE 754 fixes the last bit of sums, products and square roots, but not of `exp` or `sin`: every
//! library has its own. Prometheus uses Go's, so the functions here do what Go 1.27 computes on linux/amd64
//! (`GOAMD64=v1`), operation by operation in the same order. The methods and coefficients come from FreeBSD's
//! msun (Sun Microsystems, 1993), Cephes 2.8 and SLEEF, which Go follows; each file names its own.
//!
//! Three habits of Go on this platform are kept on purpose, because a query's answer shows them:
//!
//! - [`exp`] is infinite from 1023.5 · ln 2 (709.436…) on, although greater arguments still have a finite result;
//! - [`ln`] of a subnormal number, and hence [`log10`], takes its bits for those of a normal one;
//! - `exp` fuses multiplications with additions, as every CPU with AVX and FMA lets Go do, while nothing else does.
//!
//! `sqrt`, `floor`, `ceil`, `trunc`, `abs` and `%` have one right result everywhere; the standard library's are used.

pub(crate) use arc::{acos, asin, atan, atan2};
pub(crate) use area::{acosh, asinh, atanh};
pub(crate) use binary::ldexp;
pub(crate) use circular::{cos, sin, tan};
pub(crate) use exponential::{exp, exp2};
pub(crate) use hyperbolic::{cosh, sinh, tanh};
pub(crate) use logarithm::{ln, log2, log10};
pub(crate) use power::pow;

mod binary;
mod reduction;
mod exponential;
mod logarithm;
mod power;
mod circular;
mod arc;
mod hyperbolic;
mod area;

#[cfg(test)]
mod tests;

/// The greater part of ln 2, with so few digits that small multiples of it are exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
/// The rest of ln 2.
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
