//! Moments and lengths of time, as schedulers write them.

use breakeven::hardware::Date;

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Seconds since 1970, UTC where a zone is told, else by the clock of the log.
    pub s: f64,
    /// Whether its zone is told, or it counts from an epoch. Moments of which one is and one is not cannot be
    /// subtracted.
    pub zoned: bool,
}

/// Reads `2026-11-30T08:15:00`, with a space for the `T`, slashes for the dashes, fractions, `Z` or `+01:00`, or
/// seconds.
///
/// ```
/// use breakeven_fleet::values::moment;
/// let read = |text| moment(text).unwrap().s;
/// assert_eq!(read("2026-11-30T09:00:00+01:00"), read("2026-11-30 08:00:00Z"));
/// assert!(moment("1764489600").unwrap().zoned && !moment("2025/06/13 00:27:52.195").unwrap().zoned);
/// assert_eq!(moment("yesterday"), None);
/// ```
pub fn moment(text: &str) -> Option<Moment> {
    let text = text.trim();
    let bytes = text.as_bytes();
    if bytes.len() < 19 || !matches!(bytes[4], b'-' | b'/') {
        let s: f64 = text.parse().ok()?;
        return s.is_finite().then_some(Moment { s, zoned: true });
    }
    let mut day = [0u8; 10];
    day.copy_from_slice(&bytes[..10]);
    (day[4], day[7]) = (b'-', if day[7] == bytes[4] { b'-' } else { 0 });
    let days = Date::parse(std::str::from_utf8(&day).ok()?)?.days_since(Date::parse("1970-01-01")?);
    let two = |at: usize| {
        let pair = bytes.get(at..at + 2)?;
        pair.iter().all(u8::is_ascii_digit).then(|| f64::from((pair[0] - b'0') * 10 + pair[1] - b'0'))
    };
    let (hour, minute, second) = (two(11)?, two(14)?, two(17)?);
    let apart = matches!(bytes[10], b'T' | b' ') && bytes[13] == b':' && bytes[16] == b':';
    if !apart || hour > 24.0 || minute > 59.0 || second > 60.0 {
        return None;
    }
    let digits = bytes[19..].iter().position(|b| !b.is_ascii_digit() && *b != b'.').unwrap_or(bytes.len() - 19);
    let (fraction, zone) = text.get(19..)?.split_at(digits);
    let fraction: f64 = if fraction.is_empty() { 0.0 } else { format!("0{fraction}").parse().ok()? };
    let offset = offset(zone.trim())?;
    let s = days as f64 * 86_400.0 + hour * 3600.0 + minute * 60.0 + second + fraction - offset.unwrap_or(0.0);
    Some(Moment { s, zoned: offset.is_some() })
}

/// Seconds east of Greenwich: `Z`, `+01:00`, `-0530`, `UTC`; `Some(None)` where nothing stands.
fn offset(zone: &str) -> Option<Option<f64>> {
    if zone.is_empty() {
        return Some(None);
    }
    if matches!(zone, "Z" | "z" | "UTC" | "GMT") {
        return Some(Some(0.0));
    }
    let (sign, rest) = zone.split_at_checked(1)?;
    let digits: String = rest.chars().filter(|c| *c != ':').collect();
    let number: u32 = digits.parse().ok()?;
    let seconds = match digits.len() {
        2 => number * 3600,
        4 => number / 100 * 3600 + number % 100 * 60,
        _ => return None,
    };
    match sign {
        "+" => Some(Some(f64::from(seconds))),
        "-" => Some(Some(-f64::from(seconds))),
        _ => None,
    }
}

/// Reads `1-02:03:04`, `02:03:04.5`, `03:04` or seconds. Negative lengths are read, to be told.
///
/// ```
/// use breakeven_fleet::values::length;
/// assert_eq!([length("1-02:03:04"), length("00:17"), length("90")], [Some(93_784.0), Some(17.0), Some(90.0)]);
/// assert_eq!([length("7-20:39:39"), length("2 hours")], [Some(679_179.0), None]);
/// ```
pub fn length(text: &str) -> Option<f64> {
    let text = text.trim();
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (days.parse::<u32>().ok()?, clock),
        None => (0, text),
    };
    let mut seconds = 0.0;
    let mut parts = 0;
    for part in clock.split(':') {
        let number: f64 = part.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0)?;
        seconds = seconds * 60.0 + number;
        parts += 1;
    }
    // Slurm writes `1-12` for a day and a half.
    let unit = if days > 0 || text.contains('-') { [3600.0, 60.0, 1.0].get(parts - 1) } else { Some(&1.0) };
    (parts <= 3).then_some(sign * (f64::from(days) * 86_400.0 + seconds * unit?))
}
