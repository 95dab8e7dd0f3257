//! `--scale 0.25,1,4`: one program on problems of several sizes, told to the script by an argument with `{}` in it.

use crate::failure::Failure;
use std::ffi::OsString;

/// The sizes asked for, each as typed and as a number; the first is the one that the report speaks of.
#[derive(Debug)]
pub(crate) struct Scales {
    /// As typed, and its value.
    pub(crate) main: (String, f64),
    /// The other ones, in the order typed.
    pub(crate) others: Vec<(String, f64)>,
    /// Place of the main one in the list as typed.
    pub(crate) main_at: usize,
}

/// Reads a list such as `0.25,1,4`. The report speaks of size 1, or of the largest where 1 is not among them.
pub(crate) fn read(list: &str) -> Result<Scales, Failure> {
    let bad =
        |message: String| Failure::new("bad-sizes", message, "two or more positive numbers, as in --scale 0.25,1,4");
    let mut all: Vec<(String, f64)> = Vec::new();
    for word in list.split(',').map(str::trim) {
        let value = number(word).filter(|value| *value > 0.0);
        let value = value.ok_or_else(|| bad(format!("`{word}` is no size")))?;
        if all.iter().any(|(_, known)| *known == value) {
            return Err(bad(format!("`{word}` is there twice")));
        }
        all.push((word.to_owned(), value));
    }
    if !(2..=32).contains(&all.len()) {
        return Err(bad(format!("`{list}` lists {} of the 2 to 32 sizes that can be compared", all.len())));
    }
    let one = all.iter().position(|(_, value)| *value == 1.0);
    let largest = (0..all.len()).max_by(|a, b| all[*a].1.total_cmp(&all[*b].1));
    let main_at = one.or(largest).unwrap_or_default();
    let main = all.remove(main_at);
    Ok(Scales { main, others: all, main_at })
}

/// The arguments for a run of that size: `{}` is the size as typed, `{1000}` that many times 1000. Braces around
/// anything else stay.
pub(crate) fn arguments(command: &[OsString], size: &(String, f64)) -> Vec<OsString> {
    let filled =
        |argument: &OsString| argument.to_str().map_or_else(|| argument.clone(), |text| fill(text, size).into());
    command.iter().map(filled).collect()
}

/// Refuses a command that says nowhere what the size is to be.
pub(crate) fn marked(command: &[OsString]) -> Result<(), Failure> {
    let any = command
        .iter()
        .skip(1)
        .filter_map(|argument| argument.to_str())
        .any(|text| fill(text, &("".to_owned(), 0.5)) != text);
    if any {
        return Ok(());
    }
    let hint = "write {} where the size goes, or {1000} for that many times 1000: breakeven run --scale 0.25,1,4 heat.py {1000}";
    Err(Failure::new("no-size", "--scale needs an argument of the script with {} in it", hint))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

fn fill(text: &str, size: &(String, f64)) -> String {
    let Some((before, rest)) = text.split_once('{') else { return text.to_owned() };
    let Some((inside, after)) = rest.split_once('}') else { return text.to_owned() };
    let filled = match (inside.trim(), number(inside.trim())) {
        ("", _) => size.0.clone(),
        (number, Some(base)) => {
            // A whole number stays one: counts of rows cannot be broken.
            let whole = number.bytes().all(|b| b.is_ascii_digit());
            let scaled = base * size.1;
            if whole { format!("{}", scaled.round().max(1.0)) } else { format!("{scaled}") }
        }
        (_, None) => return format!("{before}{{{}", fill(rest, size)),
    };
    format!("{before}{filled}{}", fill(after, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let scales = read("0.25, 1,4").expect("three");
        assert_eq!((scales.main, scales.main_at), (("1".to_owned(), 1.0), 1));
        assert_eq!(scales.others, [("0.25".to_owned(), 0.25), ("4".to_owned(), 4.0)]);
        assert_eq!(read("500,2000,1000").expect("three").main.0, "2000");
        for wrong in ["1", "", "1,1", "1,-2", "1,x", "1,1e400", "1,NaN", "0,1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn arguments_are_filled() {
        let fill = |text: &str| fill(text, &("0.25".to_owned(), 0.25));
        assert_eq!(fill("--n={1000}"), "--n=250");
        assert_eq!(fill("{}"), "0.25");
        assert_eq!(fill("{3}x{5}"), "1x1");
        assert_eq!(fill("{2.0}"), "0.5");
        assert_eq!(fill(r#"{"a": {8}}"#), r#"{"a": 2}"#);
        for kept in ["{name}", "{", "}{", "plain"] {
            assert_eq!(fill(kept), kept);
        }
        let command = |text: &str| [OsString::from("{}.py"), OsString::from(text)];
        assert!(marked(&command("{}")).is_ok());
        assert!(marked(&command("x")).is_err());
    }
}
