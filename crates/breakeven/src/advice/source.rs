//! What the user's own lines tell: the operands of an expression, what a loop hands from round to round, a patch.

use crate::workload::{Site, file_name};

/// Words that are no operands.
const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "False", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "None", "nonlocal", "not", "or",
    "pass", "raise", "return", "True", "try", "while", "with", "yield",
];

/// Names read in a piece of Python, each with what it is indexed by (`u[1:-1]`), in order of appearance, once.
/// Functions and modules (`np.exp(`) and keyword arguments are left out.
///
/// ```
/// use breakeven::advice::source::operands;
/// assert_eq!(operands("u + 0.1 * np.exp(u[1:] - v, out=w)"), ["u", "u[1:]", "v", "w"]);
/// assert_eq!(operands("x if flag else 'a b'"), ["x", "flag"]);
/// ```
pub fn operands(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut found: Vec<String> = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        if c == '#' {
            break;
        }
        if c == '"' || c == '\'' {
            i = past_string(&chars, i);
        } else if c.is_ascii_digit() {
            while i < chars.len() && (chars[i].is_alphanumeric() || chars[i] == '.' || chars[i] == '_') {
                i += 1;
            }
        } else if c.is_alphabetic() || c == '_' {
            let from = i;
            while i < chars.len() && (chars[i].is_alphanumeric() || chars[i] == '_' || chars[i] == '.') {
                i += 1;
            }
            let path: String = chars[from..i].iter().collect();
            let next = chars[i..].iter().position(|c| !c.is_whitespace()).map(|skip| chars[i + skip]);
            let after = chars.get(i + 1).copied();
            let named = next == Some('=') && after != Some('=') && depth(&chars[..from]) > 0;
            let called = next == Some('(');
            let prefix = matches!(chars.get(i), Some('"' | '\''));
            if named || prefix || KEYWORDS.contains(&path.as_str()) {
                continue;
            }
            let mut operand = if called {
                // A method reads what it is a method of; a function of a module reads its arguments.
                match path.rsplit_once('.') {
                    Some((object, _)) if !MODULES.contains(&object.split('.').next().unwrap_or_default()) => {
                        object.to_owned()
                    }
                    _ => continue,
                }
            } else {
                path
            };
            if !called && chars.get(i) == Some(&'[') {
                let end = past_bracket(&chars, i);
                operand.extend(&chars[i..end]);
                i = end;
            }
            if !found.contains(&operand) {
                found.push(operand);
            }
        } else {
            i += 1;
        }
    }
    found
}

/// Names under which array libraries are imported.
const MODULES: &[&str] = &["np", "numpy", "cp", "cupy", "scipy", "torch", "F", "math", "xp"];

fn depth(before: &[char]) -> i32 {
    before.iter().map(|c| i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'))).sum()
}

fn past_string(chars: &[char], from: usize) -> usize {
    let close = chars[from + 1..].iter().position(|c| *c == chars[from]);
    close.map_or(chars.len(), |n| from + 2 + n)
}

fn past_bracket(chars: &[char], from: usize) -> usize {
    let mut open = 0;
    for (i, c) in chars.iter().enumerate().skip(from) {
        open += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        if open == 0 {
            return i + 1;
        }
    }
    chars.len()
}

/// A line as `target operator= value`: `("u", "", "u + 1")`, `("total", "+", "x")`. `None` for what assigns nothing.
pub fn assignment(text: &str) -> Option<(&str, &str, &str)> {
    let bytes = text.as_bytes();
    let mut open = 0;
    for (i, b) in bytes.iter().enumerate() {
        match b {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open -= 1,
            b'=' if open == 0 => {
                let compares = bytes.get(i + 1) == Some(&b'=')
                    || matches!(bytes.get(i.wrapping_sub(1)), Some(b'=' | b'!' | b'<' | b'>' | b':'));
                if compares {
                    return None;
                }
                let left = &text[..i];
                let bare = left.trim_end_matches(['+', '-', '*', '/', '%', '@', '&', '|', '^']);
                return Some((bare.trim(), left[bare.len()..].trim(), text[i + 1..].trim()));
            }
            _ => {}
        }
    }
    None
}

/// As [`assignment`]; what is put at the end of a list (`rows.append(x)`) is added to it.
pub fn update(text: &str) -> Option<(&str, &str, &str)> {
    let appended = || {
        let (list, rest) = text.split_once(".append(")?;
        let value = rest.trim_end().strip_suffix(')')?;
        list.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')).then_some((list, "+", value))
    };
    appended().or_else(|| assignment(text))
}

/// Whether lines that run in this order, again and again, hand something from one round to the next: a name that is
/// read before the round has set it, and that some line of the round sets. `None` where a line is not known.
pub fn carries(lines: &[&str]) -> Option<bool> {
    let mut set: Vec<&str> = Vec::new();
    let mut read_first: Vec<String> = Vec::new();
    for line in lines {
        if line.is_empty() {
            return None;
        }
        let (target, operator, value) = update(line).unwrap_or(("", "", line));
        let base = |operand: &str| operand.split(['[', '.']).next().unwrap_or_default().to_owned();
        let targets: Vec<&str> = target.split(',').map(str::trim).filter(|t| !t.is_empty()).collect();
        let mut reads: Vec<String> = operands(value).iter().map(|o| base(o)).collect();
        if !operator.is_empty() {
            reads.extend(targets.iter().filter(|t| !t.contains('[')).map(|t| base(t)));
        }
        read_first.extend(reads.into_iter().filter(|name| !set.contains(&name.as_str())));
        // `out[i] = …` sets a row, not the name; a later read of another row would be a dependence.
        set.extend(targets.iter().map(|t| t.split(['[', '.']).next().unwrap_or_default()));
    }
    Some(read_first.iter().any(|name| set.contains(&name.as_str())))
}

/// The statements on a line, without the head of a loop: `for a in b: s += f(a); n = 1` gives `s += f(a)` and `n = 1`.
pub fn statements(line: &str) -> Vec<&str> {
    let cut = |text: &str, at: char| {
        let mut open = 0;
        text.find(|c: char| {
            open += i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
            c == at && open == 0
        })
    };
    let head = line.starts_with("for ").then(|| cut(line, ':')).flatten().map_or("", |colon| &line[..=colon]);
    let mut rest = if head.len() < line.len() { line[head.len()..].trim_start() } else { line };
    let mut found = Vec::new();
    while let Some(end) = cut(rest, ';') {
        found.push(&rest[..end]);
        rest = rest[end + 1..].trim_start();
    }
    if !rest.is_empty() || found.is_empty() {
        found.push(rest);
    }
    found
}

/// The lines with `total += x` and `rows.append(x)` as `x`, where no other line knows the total or the list: that is a
/// sum over all rounds, or what each of them gives.
pub fn without_sums<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let knows = |line: &str, name: &str| operands(line).iter().any(|o| o.split(['[', '.']).next() == Some(name));
    let value = |(i, line): (usize, &&'t str)| match update(line) {
        Some((total, "+" | "-", value))
            if total.chars().all(|c| c.is_alphanumeric() || c == '_')
                && !knows(value, total)
                && !lines.iter().enumerate().any(|(k, other)| k != i && knows(other, total)) =>
        {
            value
        }
        _ => *line,
    };
    lines.iter().enumerate().map(value).collect()
}

/// A unified diff of one line. The recorded line has lost its indentation, and so has the diff.
pub fn patch(site: &Site, new: &str) -> String {
    let name = file_name(&site.file);
    format!("--- a/{name}\n+++ b/{name}\n@@ -{0} +{0} @@\n-{1}\n+{new}\n", site.line, site.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments() {
        assert_eq!(assignment("u = u + 1"), Some(("u", "", "u + 1")));
        assert_eq!(assignment("out[i, :] += f(a, b=2)"), Some(("out[i, :]", "+", "f(a, b=2)")));
        assert_eq!(assignment("if a == b:"), None);
        assert_eq!(assignment("print(x, end='')"), None);
        assert_eq!(assignment("x //= 2"), Some(("x", "//", "2")));
    }

    #[test]
    fn what_a_round_hands_on() {
        assert_eq!(carries(&["row = a[i]", "out[i] = np.tanh(row @ w)"]), Some(false));
        assert_eq!(carries(&["state = move @ state + seen[t]"]), Some(true));
        assert_eq!(carries(&["total += float(a[i].sum())"]), Some(true));
        assert_eq!(carries(&["y = f(x)", "x = y + 1"]), Some(true));
        assert_eq!(carries(&["out[i] = out[i - 1] + a[i]"]), Some(true));
        assert_eq!(carries(&["", "x = 1"]), None);
        assert_eq!(carries(&without_sums(&["out.append(f(x[i]))"])), Some(false));
        assert_eq!(carries(&without_sums(&["out.append(out[-1] + x[i])"])), Some(true));
        assert_eq!(carries(&without_sums(&["y = f(out, x[i])", "out.append(y)"])), Some(true));
    }

    #[test]
    fn a_line_may_hold_several_statements() {
        assert_eq!(statements("for a in b[1:]: s += f(a); n = {1: 2}"), ["s += f(a)", "n = {1: 2}"]);
        assert_eq!(statements("for a in b:"), ["for a in b:"]);
        assert_eq!(statements("x = a[1:]"), ["x = a[1:]"]);
        assert_eq!(statements(""), [""]);
    }

    #[test]
    fn sums_are_no_matter_of_order() {
        assert_eq!(without_sums(&["d = f(a)", "s += d * 2"]), ["d = f(a)", "d * 2"]);
        let kept = ["s += d", "d = s * 2", "t += t * d", "u[i] += d", "v *= d"];
        assert_eq!(without_sums(&kept), kept);
    }

    #[test]
    fn strings_numbers_and_hostile_text() {
        assert_eq!(operands("0x1f + 1e-3 * f'{x}' + y # z"), ["y"]);
        assert_eq!(operands("a[[[("), ["a[[[("]);
        assert_eq!(operands("é.T @ b"), ["é.T", "b"]);
        assert!(operands("\u{202e}\"").is_empty());
    }
}
