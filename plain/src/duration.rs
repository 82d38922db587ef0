//! Durations as typed.

use std::time::Duration;

/// Parses a duration such as `50ms`, `2s`, `1.5s` or `100us`.
///
/// # Errors
/// When it is no number with a unit, or too long; in words for people.
pub fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let scale = match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => {
            return Err(format!(
                "{text} is no duration; expected a number with ns, us, ms or s, as in 50ms"
            ));
        }
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("{text} is no duration; expected a number with ns, us, ms or s"))?;
    Duration::try_from_secs_f64(number * scale).map_err(|error| format!("{text}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(duration("50ms"), Ok(Duration::from_millis(50)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert!(duration("50").is_err());
        assert!(duration("fast").is_err());
        assert!(duration("1e400s").is_err());
    }
}
