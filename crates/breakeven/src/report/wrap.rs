//! Text within the width of a terminal.

/// `text` behind `mark` in lines of at most `width` characters; those after the first begin below the text. A number
/// stays with what follows it; a word that fits on no line is cut.
pub fn hanging(mark: &str, text: &str, width: usize) -> Vec<String> {
    let indent = mark.chars().count();
    let room = width.saturating_sub(indent).max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in unbreakable(text) {
        let word: Vec<char> = word.chars().collect();
        for part in word.chunks(room) {
            if used > 0 && used + 1 + part.len() > room {
                lines.push(String::new());
                used = 0;
            }
            let space = if used > 0 { " " } else { "" };
            used += space.len() + part.len();
            if let Some(line) = lines.last_mut() {
                line.push_str(space);
                line.extend(part);
            }
        }
    }
    let marked = |(i, line): (usize, &String)| if i == 0 { mark.to_owned() + line } else { " ".repeat(indent) + line };
    lines.iter().enumerate().map(marked).collect()
}

/// The same in at most `most` lines; where more would be needed, the last ends in `…`.
pub(super) fn hanging_at_most(most: usize, mark: &str, text: &str, width: usize) -> Vec<String> {
    let mut lines = hanging(mark, text, width);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = match last.rfind(['.', ';', ',', ':']).filter(|end| *end > last.len() / 3) {
                Some(end) => format!("{} …", &last[..=end]),
                None => cut(&format!("{last} …"), width),
            };
        }
    }
    lines
}

/// At most `width` characters; what is longer ends in `…`.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// The words of a text; `40 000 launches` and `12 µs` are one.
fn unbreakable(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut().filter(|last| last.ends_with(|c: char| c.is_ascii_digit())) {
            Some(number) => *number = format!("{number} {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_stay_with_their_unit() {
        let lines = hanging("why: ", "it takes 40 000 launches of 12 µs each", 20);
        assert_eq!(lines, ["why: it takes", "     40 000 launches", "     of 12 µs each"]);
        assert_eq!(hanging_at_most(2, "", "one two three four", 9), ["one two", "three …"]);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_and_no_word_is_lost(text in "[a-z0-9 é]{0,120}", width in 4_usize..40) {
            let lines = hanging("- ", &text, width);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:?}");
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&format!("-{text}")));
        }
    }
}
