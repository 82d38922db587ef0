//! Shares, and seconds.

/// Nanoseconds in a second.
pub(super) const SECOND: f64 = 1e9;

/// `part` of `whole`; 0 if `whole` is 0.
#[must_use]
pub fn over(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

/// Seconds as nanoseconds, for people.
pub(super) fn nanoseconds(seconds: f64) -> u64 {
    crate::view::units::whole(seconds * SECOND)
}

/// Seconds in words.
pub(super) fn seconds(seconds: f64) -> String {
    crate::view::units::time(nanoseconds(seconds))
}
