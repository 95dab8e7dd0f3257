//! The command line as it was typed, to be typed again with a change.

use std::ffi::OsString;

/// What was typed after the name of the program.
pub(super) fn words() -> Vec<OsString> {
    std::env::args_os().skip(1).collect()
}

/// The command of these words as a shell reads it, with `more` options before all others.
pub(super) fn again(words: &[OsString], more: &[OsString]) -> String {
    let command = words.iter().position(|word| !word.to_string_lossy().starts_with('-')).map_or(0, |at| at + 1);
    let (before, after) = words.split_at(command);
    let all = before.iter().chain(more).chain(after);
    all.fold("breakeven".to_owned(), |line, word| line + " " + &quoted(&word.to_string_lossy()))
}

/// The word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_first_and_words_are_quoted() {
        let words = ["--no-config", "run", "--gpu", "RTX 3080", "it's.py", ""].map(OsString::from);
        let line = again(&words, &["--fake".into()]);
        assert_eq!(line, r"breakeven --no-config run --fake --gpu 'RTX 3080' 'it'\''s.py' ''");
    }
}
