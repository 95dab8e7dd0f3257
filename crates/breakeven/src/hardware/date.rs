//! A calendar date, to tell how old a figure is.

use std::fmt;

/// A day of the Gregorian calendar, years 1900–2999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Reads `YYYY-MM-DD`; `None` for anything else and for days that do not exist.
    ///
    /// ```
    /// use breakeven::hardware::Date;
    /// let read = Date::parse("2026-11-21").unwrap();
    /// assert_eq!(Date::parse("2026-12-25").unwrap().days_since(read), 34);
    /// assert!(Date::parse("2026-02-30").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let number = |range: std::ops::Range<usize>| {
            bytes.get(range)?.iter().try_fold(0u16, |n, b| b.is_ascii_digit().then(|| n * 10 + u16::from(b - b'0')))
        };
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let (year, month, day) = (number(0..4)?, number(5..7)? as u8, number(8..10)? as u8);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let last = match month {
            2 => 28 + u8::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        ((1900..3000).contains(&year) && (1..=last).contains(&day)).then_some(Self { year, month, day })
    }

    /// Days from `earlier` to this day; negative when `earlier` is later.
    pub fn days_since(self, earlier: Self) -> i64 {
        self.ordinal() - earlier.ordinal()
    }

    /// Days since the first of March of the year 0: the year starts in March so that the leap day comes last.
    fn ordinal(self) -> i64 {
        let (year, month, day) = (i64::from(self.year), i64::from(self.month), i64::from(self.day));
        let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_across_leap_years() {
        let days = |a, b| Date::parse(a).unwrap().days_since(Date::parse(b).unwrap());
        assert_eq!(days("2024-03-01", "2024-02-28"), 2);
        assert_eq!(days("2023-03-01", "2023-02-28"), 1);
        assert_eq!(days("2026-01-01", "2025-01-01"), 365);
        assert_eq!(days("2025-01-01", "2026-01-01"), -365);
        assert_eq!(days("2000-03-01", "1970-01-01"), 11017);
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in ["", "2026", "2026-13-01", "2026-00-01", "2025-02-29", "2026-1-01", "26-01-2026", "2026-01-0١"] {
            assert_eq!(Date::parse(text), None, "{text:?}");
        }
    }
}
