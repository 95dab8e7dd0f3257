//! MLIR's text as a tree: words, names, numbers and groups in brackets, with the ends of lines that part statements.

use breakeven::{Error, Result};

/// Brackets within brackets are read so deep.
const DEEPEST: usize = 100;

/// A piece of text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree<'a> {
    /// A word with dots (`stablehlo.add`), or a number.
    Word(&'a str),
    /// `%0`, `%0#1`, `%arg0`.
    Value(&'a str),
    /// `@main`.
    Symbol(&'a str),
    /// `^bb0`.
    Block(&'a str),
    /// `"…"`, without the quotes.
    Text(&'a str),
    /// `tensor<…>`, `dense<…>`, `array<…>`, `#stablehlo.dot<…>`: the word before and what is inside.
    Angle(&'a str, &'a str),
    /// `(…)`, `[…]` or `{…}`.
    Group(char, Vec<Tree<'a>>),
    /// `->`
    Arrow,
    /// Any other sign: `:`, `=`, `,`, `<`, `>`.
    Sign(char),
    /// The end of a line.
    Line,
}

impl<'a> Tree<'a> {
    /// What a group of this kind holds.
    pub(super) fn group(&self, kind: char) -> Option<&[Self]> {
        match self {
            Self::Group(found, inner) if *found == kind => Some(inner),
            _ => None,
        }
    }

    /// A word.
    pub(super) const fn word(&self) -> Option<&'a str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn is(&self, sign: char) -> bool {
        *self == Self::Sign(sign)
    }
}

/// The tree of a whole text, and whether it ended within brackets.
///
/// # Errors
/// `model-read` for brackets that do not match, or too many within each other.
pub(super) fn tree<'a>(text: &'a str, name: &str) -> Result<(Vec<Tree<'a>>, bool)> {
    let mut reader = Reader { text, at: 0 };
    let mut open: Vec<(char, Vec<Tree<'a>>)> = vec![(' ', Vec::new())];
    while let Some(next) = reader.next() {
        match next {
            Next::Open(kind) if open.len() > DEEPEST => {
                let message =
                    format!("{name} has more than {DEEPEST} brackets of `{kind}` and others within each other");
                return Err(Error::new("model-read", message).hint("no exporter writes such text"));
            }
            Next::Open(kind) => open.push((kind, Vec::new())),
            Next::Close(kind) => match open.pop() {
                Some((found, inner)) if found == kind => {
                    let group = Tree::Group(found, inner);
                    open.last_mut().expect("the text itself is never closed").1.push(group);
                }
                _ => {
                    let line = text[..reader.at].lines().count();
                    let message = format!("{name} is no MLIR: a bracket in line {line} closes what is not open");
                    return Err(Error::new("model-read", message).hint("write the text again: `lowered.as_text()`"));
                }
            },
            Next::Leaf(leaf) => open.last_mut().expect("the text itself is never closed").1.push(leaf),
        }
    }
    let cut = open.len() > 1;
    while let Some((kind, inner)) = open.pop() {
        match open.last_mut() {
            Some((_, around)) => around.push(Tree::Group(kind, inner)),
            None => return Ok((inner, cut)),
        }
    }
    Ok((Vec::new(), cut))
}

enum Next<'a> {
    Open(char),
    Close(char),
    Leaf(Tree<'a>),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// Letters of words: dotted, with signs and digits.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'-' | b'+' | b'!' | b'#') || byte >= 0x80
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<Next<'a>> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            let from = self.at;
            self.at += 1;
            let leaf = match byte {
                b'\n' => Tree::Line,
                b' ' | b'\t' | b'\r' => continue,
                b'/' if bytes.get(self.at) == Some(&b'/') => {
                    self.at = memchr::memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |long| from + long);
                    continue;
                }
                b'(' | b'[' | b'{' => return Some(Next::Open(char::from(byte))),
                b')' => return Some(Next::Close('(')),
                b']' => return Some(Next::Close('[')),
                b'}' => return Some(Next::Close('{')),
                b'"' => Tree::Text(self.quoted()),
                b'-' if bytes.get(self.at) == Some(&b'>') => {
                    self.at += 1;
                    Tree::Arrow
                }
                b'%' => {
                    self.word();
                    Tree::Value(&self.text[from..self.at])
                }
                b'^' => {
                    self.word();
                    Tree::Block(&self.text[from..self.at])
                }
                b'@' if bytes.get(self.at) == Some(&b'"') => {
                    self.at += 1;
                    Tree::Symbol(self.quoted())
                }
                b'@' => {
                    self.word();
                    Tree::Symbol(&self.text[from + 1..self.at])
                }
                _ if is_word(byte) => {
                    self.word();
                    let word = &self.text[from..self.at];
                    if bytes.get(self.at) == Some(&b'<') { Tree::Angle(word, self.angle()) } else { Tree::Word(word) }
                }
                _ => Tree::Sign(char::from(byte)),
            };
            return Some(Next::Leaf(leaf));
        }
    }

    fn word(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at)
            && is_word(byte)
            && !(byte == b'-' && bytes.get(self.at + 1) == Some(&b'>'))
        {
            self.at += 1;
        }
    }

    /// What stands up to the quote that ends it; `at` is behind the first one.
    fn quoted(&mut self) -> &'a str {
        let (bytes, from) = (self.text.as_bytes(), self.at);
        while let Some(long) = memchr::memchr2(b'"', b'\\', &bytes[self.at..]) {
            self.at += long;
            if bytes[self.at] == b'"' {
                self.at += 1;
                return &self.text[from..self.at - 1];
            }
            // What stands behind a backslash may be half of a letter: the next search begins behind it all the same.
            self.at = (self.at + 2).min(bytes.len());
        }
        self.at = bytes.len();
        self.text.get(from..).unwrap_or_default()
    }

    /// What stands in `<…>`; `at` is on the first sign.
    fn angle(&mut self) -> &'a str {
        let bytes = self.text.as_bytes();
        let (from, mut deep) = (self.at + 1, 0_u32);
        while let Some(&byte) = bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'<' => deep += 1,
                b'>' if bytes[self.at - 2] == b'-' => {}
                b'>' => {
                    deep -= 1;
                    if deep == 0 {
                        return &self.text[from..self.at - 1];
                    }
                }
                b'"' => {
                    self.quoted();
                }
                _ => {}
            }
        }
        &self.text[from..]
    }
}

/// Whole numbers of an attribute: of `[1, 0]`, `array<i64: 1, 0>`, `dense<[[0, 0], [63, 0]]>`, `1`, `dense<1>`.
pub(super) fn numbers(tree: &Tree<'_>) -> Vec<i64> {
    match tree {
        Tree::Word(word) => word.parse().into_iter().collect(),
        Tree::Group('[', inner) => inner.iter().flat_map(numbers).collect(),
        Tree::Angle("array", inner) => inner.split_once(':').map_or_else(Vec::new, |(_, list)| listed(list)),
        Tree::Angle("dense", inner) => listed(inner),
        _ => Vec::new(),
    }
}

/// Whole numbers in a text, whatever stands between them; at most so many as any shape has.
fn listed(text: &str) -> Vec<i64> {
    const MOST: usize = 256;
    let numbers = text.split(|c: char| !(c.is_ascii_digit() || c == '-')).filter_map(|word| word.parse().ok());
    numbers.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_operation_is_words_and_groups() {
        let (tree, cut) =
            tree("%0:2 = \"a.b\"(%x#1) {k = array<i64: 1, -2>} : tensor<2x?xf32> -> (i1) // end\n", "t").unwrap();
        assert!(!cut);
        assert_eq!(tree[0], Tree::Value("%0"));
        assert!(tree.contains(&Tree::Angle("tensor", "2x?xf32")) && tree.contains(&Tree::Arrow));
        assert_eq!(tree.last(), Some(&Tree::Line));
        let attributes = tree.iter().find_map(|tree| tree.group('{')).unwrap();
        assert_eq!(numbers(&attributes[2]), [1, -2]);
    }

    proptest! {
        #[test]
        fn any_text_ends(text in "[%@^a-z0-9<>(){}\\[\\]\"\\\\ ä:=,\n-]{0,200}") {
            let _ = tree(&text, "t");
        }
    }
}
