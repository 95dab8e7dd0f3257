//! Negative quantities with a unit, which look like options.

use std::ffi::OsString;

/// `--cpu-time -3h` as `--cpu-time=-3h`: the value of the option, which is then told what is wrong with it. What follows
/// `--` is the script's own.
pub(crate) fn join_negative(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(arguments.len());
    let mut words = arguments.into_iter();
    for word in words.by_ref() {
        match joined.last_mut() {
            Some(option) if is_negative(&word.to_string_lossy()) && is_open(&option.to_string_lossy()) => {
                option.push("=");
                option.push(word);
            }
            _ => joined.push(word),
        }
        if joined.last().is_some_and(|last| last == "--") {
            break;
        }
    }
    joined.extend(words);
    joined
}

/// Whether it is a negative quantity with a unit; the parser knows bare numbers itself.
fn is_negative(word: &str) -> bool {
    let digits = word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'));
    digits && word.parse::<f64>().is_err()
}

/// Whether it is a long option without a value.
fn is_open(word: &str) -> bool {
    word.len() > 2 && word.starts_with("--") && !word.contains('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_quantities_are_values() {
        for (given, means) in [
            ("estimate --cpu-time -3h --gpu l4", "estimate --cpu-time=-3h --gpu l4"),
            ("estimate --flops -3 -q", "estimate --flops -3 -q"),
            ("estimate --flops=1 -3h", "estimate --flops=1 -3h"),
            ("run --price -1$ -- heat.py --lr -3h", "run --price=-1$ -- heat.py --lr -3h"),
        ] {
            let words = given.split(' ').map(OsString::from).collect();
            assert_eq!(join_negative(words).join(" ".as_ref()), means);
        }
    }
}
