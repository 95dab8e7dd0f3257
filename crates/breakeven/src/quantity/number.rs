//! The number in front of a unit, with the separators people use.
//!
//! One mark decides nothing alone: `10,000` is ten thousand, `0,5` and `12,5` are decimals. The rule: with both `.` and
//! `,` the last one is the decimal mark; a mark that occurs twice groups; one comma groups when exactly three digits
//! follow it and one to three, not starting with 0, stand before; one point is always the decimal mark. Spaces, `_` and
//! `'` only group. Groups hold three digits.

/// Why there is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    Empty,
    Negative,
    Separators,
    TooLarge,
    TooSmall,
}

/// Every kind of space to a plain one, the typographic minus to `-`, curly apostrophes to straight ones.
pub(super) fn normalise(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{2212}' => '-',
            '\u{2019}' => '\'',
            c if c.is_whitespace() => ' ',
            c => c,
        })
        .collect()
}

/// The number at the start of `text`, and what follows it.
pub(super) fn read(text: &str) -> Result<(f64, &str), Problem> {
    if text.starts_with('-') {
        return Err(Problem::Negative);
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let (mantissa, rest) = text.split_at(mantissa_len(text));
    if !mantissa.contains(|c: char| c.is_ascii_digit()) {
        return Err(Problem::Empty);
    }
    let (exponent, rest) = rest.split_at(exponent_len(rest));
    let digits = ungroup(mantissa).ok_or(Problem::Separators)?;
    let value: f64 = format!("{digits}{exponent}").parse().map_err(|_| Problem::Separators)?;
    if value.is_infinite() {
        return Err(Problem::TooLarge);
    }
    if value == 0.0 && digits.contains(|c: char| ('1'..='9').contains(&c)) {
        return Err(Problem::TooSmall);
    }
    Ok((value, rest))
}

/// Digits and separators; a separator other than `.` only where a digit follows it.
fn mantissa_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let digit_next = bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        match bytes[end] {
            b'0'..=b'9' | b'.' => end += 1,
            b',' | b' ' | b'_' | b'\'' if end > 0 && digit_next => end += 1,
            _ => break,
        }
    }
    end
}

/// `e9`, `E-3`, `e+12`; 0 when what follows is a unit such as `EB`.
fn exponent_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !matches!(bytes.first(), Some(b'e' | b'E')) {
        return 0;
    }
    let sign = usize::from(matches!(bytes.get(1), Some(b'+' | b'-')));
    let digits = bytes[1 + sign..].iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 { 0 } else { 1 + sign + digits }
}

/// The mantissa with `.` as its decimal mark and without grouping; `None` when the separators make no sense.
fn ungroup(mantissa: &str) -> Option<String> {
    let decimal = decimal_mark(mantissa);
    let (whole, fraction) = match decimal {
        Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
        None => (mantissa, ""),
    };
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut groups = whole.split([',', '.', ' ', '_', '\'']);
    let first = groups.next()?;
    let marks: Vec<char> = whole.chars().filter(|c| !c.is_ascii_digit()).collect();
    let grouped = !marks.is_empty();
    let sound = marks.windows(2).all(|w| w[0] == w[1]) && (!grouped || (1..=3).contains(&first.len()));
    (sound && groups.all(|g| g.len() == 3)).then(|| {
        let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
        format!("{digits}.{fraction}0")
    })
}

/// Byte position of the decimal mark.
fn decimal_mark(mantissa: &str) -> Option<usize> {
    let points = mantissa.matches('.').count();
    let commas = mantissa.matches(',').count();
    match (points, commas) {
        (0, 0) => None,
        (1, 0) => mantissa.find('.'),
        (0, 1) => mantissa.find(',').filter(|&at| !comma_groups(&mantissa[..at], &mantissa[at + 1..])),
        (_, 0) | (0, _) => None,
        _ => mantissa.rfind(['.', ',']),
    }
}

fn comma_groups(before: &str, after: &str) -> bool {
    after.len() == 3 && (1..=3).contains(&before.len()) && !before.starts_with('0')
}
