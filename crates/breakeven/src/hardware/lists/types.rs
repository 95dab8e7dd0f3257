//! Tables of prices by region and machine type, as the Karpenter providers generate them: Go or JSON.

use super::{Date, Offer, Offers};

/// Deeper nesting is no such table.
const DEEPEST: usize = 16;

/// `"us-east-1": {"g5.xlarge": 1.006, …}` in either language: the last quoted word before a brace names what is within,
/// the one before a number is the machine type. A level called `spot` has prices of spot.
pub(super) fn read(text: &str, offers: &mut Offers) {
    let bytes = text.as_bytes();
    let date = generated(text);
    let mut levels: Vec<&str> = Vec::new();
    let (mut word, mut named, mut at) = ("", false, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let rest = &text[at + 1..];
                let Some(end) = rest.find(['"', '\n']) else { break };
                (word, named) = (&rest[..end], true);
                at += end + 1;
            }
            b'{' => {
                levels.push(if named { word } else { "" });
                named = false;
                if levels.len() > DEEPEST {
                    offers.left_out += 1;
                    break;
                }
            }
            b'}' => {
                levels.pop();
                named = false;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => at += text[at..].find('\n').unwrap_or(text.len() - at),
            // No digit of a word: `float64`.
            b'0'..=b'9' | b'-' if named && !levels.is_empty() && !bytes[at - 1].is_ascii_alphanumeric() => {
                let number = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E');
                let end = bytes[at..].iter().position(|b| !number(b)).map_or(bytes.len(), |n| at + n);
                if let (Ok(usd_per_h), true) =
                    (text[at..end].parse(), offers.types.contains_key(&word.to_ascii_lowercase()))
                {
                    let spot = levels.iter().any(|level| level.eq_ignore_ascii_case("spot"));
                    let terms = |level: &&&str| {
                        level.to_ascii_lowercase().contains("demand") || level.eq_ignore_ascii_case("spot")
                    };
                    let region = levels.iter().rev().find(|level| !level.is_empty() && !terms(level)).unwrap_or(&"");
                    offers.add(&Offer { instance: word, usd_per_h, spot, region, date, ..Offer::default() });
                } else {
                    offers.left_out += 1;
                }
                named = false;
                at = end;
                continue;
            }
            // A name and what it is of stand in one line.
            b'\n' => named = false,
            _ => {}
        }
        at += 1;
    }
}

/// The day on which it was generated: the first date of its first lines.
fn generated(text: &str) -> Option<Date> {
    let head: String = text.lines().take(60).flat_map(|line| line.chars().take(200).chain(['\n'])).collect();
    (0..head.len()).find_map(|at| Date::parse(head.get(at..at + 10)?))
}
