//! Lengths with letters in them: `s0`, `2*s0 + 1`, `(s1 // 2)`, or as SymPy writes them for itself:
//! `Mul(Integer(2), Symbol('s0', positive=True))`.

use std::collections::BTreeMap;

/// Longer texts are no lengths.
const LONGEST: usize = 1000;
/// Words that are no letters.
const FUNCTIONS: [&str; 10] =
    ["Add", "CleanDiv", "FloorDiv", "Integer", "Max", "Min", "Mod", "Mul", "Pow", "PythonMod"];
/// Brackets within brackets.
const DEEPEST: u32 = 50;

/// The same with letters alone where it has SymPy's symbols.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("Symbol(") {
        let inner = &rest[at + "Symbol(".len()..];
        out.push_str(&rest[..at]);
        out.push_str(inner.trim_start_matches('\'').split(['\'', ',', ')']).next().unwrap_or_default());
        rest = inner.split_once(')').map_or("", |(_, after)| after);
    }
    out + rest
}

/// The value of an expression; `None` where a letter is not known, or the text is none.
pub(super) fn value(text: &str, known: &BTreeMap<String, u64>) -> Option<i64> {
    if text.len() > LONGEST {
        return None;
    }
    let mut reader = Reader { rest: text.trim(), known, deep: 0 };
    let value = reader.sum()?;
    reader.rest.is_empty().then_some(value)
}

/// The names in an expression.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let word = |word: &&str| word.chars().next().is_some_and(char::is_alphabetic);
    words.filter(word).filter(|word| !FUNCTIONS.contains(word))
}

struct Reader<'a> {
    rest: &'a str,
    known: &'a BTreeMap<String, u64>,
    deep: u32,
}

impl<'a> Reader<'a> {
    fn takes(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Option<i64> {
        let mut sum = self.product()?;
        loop {
            if self.takes("+") {
                sum = sum.checked_add(self.product()?)?;
            } else if self.takes("-") {
                sum = sum.checked_sub(self.product()?)?;
            } else {
                return Some(sum);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut product = self.power()?;
        loop {
            if self.takes("//") {
                product = product.checked_div_euclid(self.power()?)?;
            } else if self.rest.starts_with("**") {
                return None;
            } else if self.takes("*") {
                product = product.checked_mul(self.power()?)?;
            } else {
                return Some(product);
            }
        }
    }

    fn power(&mut self) -> Option<i64> {
        let base = self.one()?;
        if self.takes("**") { base.checked_pow(u32::try_from(self.one()?).ok()?) } else { Some(base) }
    }

    fn one(&mut self) -> Option<i64> {
        self.deep += 1;
        if self.deep > DEEPEST {
            return None;
        }
        let value = if self.takes("-") {
            self.one()?.checked_neg()?
        } else if self.takes("(") {
            let inner = self.sum()?;
            self.takes(")").then_some(inner)?
        } else {
            self.word()?
        };
        self.deep -= 1;
        Some(value)
    }

    fn word(&mut self) -> Option<i64> {
        let long = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(long);
        self.rest = rest.trim_start();
        if let Ok(number) = word.parse() {
            return Some(number);
        }
        if !self.takes("(") {
            return i64::try_from(*self.known.get(word)?).ok();
        }
        let first = self.sum()?;
        let mut values = vec![first];
        while self.takes(",") {
            values.push(self.sum()?);
        }
        if !self.takes(")") {
            return None;
        }
        match (word, &values[..]) {
            ("Integer", [value]) => Some(*value),
            ("Add", values) => values.iter().try_fold(0_i64, |sum, value| sum.checked_add(*value)),
            ("Mul", values) => values.iter().try_fold(1_i64, |product, value| product.checked_mul(*value)),
            ("Pow", [base, power]) => base.checked_pow(u32::try_from(*power).ok()?),
            ("Max", values) => values.iter().copied().max(),
            ("Min", values) => values.iter().copied().min(),
            ("Mod" | "PythonMod", [a, b]) => a.checked_rem_euclid(*b),
            ("FloorDiv" | "CleanDiv", [a, b]) => a.checked_div_euclid(*b),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_follow_from_their_letters() {
        let known = BTreeMap::from([("s0".to_owned(), 8), ("s1".to_owned(), 5)]);
        for (text, found) in [
            ("s0", Some(8)),
            ("2*s0 + 1", Some(17)),
            ("((s0 + s1)//2)", Some(6)),
            ("Max(1, s1)*s0**2", Some(320)),
            ("s2", None),
            ("s0 +", None),
        ] {
            assert_eq!(value(text, &known), found, "{text}");
        }
        let own = plain("Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(1))");
        assert_eq!((own.as_str(), value(&own, &known)), ("Add(Mul(Integer(2), s0), Integer(1))", Some(17)));
        assert_eq!(names("Max(1, 2*s0 + u1)").collect::<Vec<_>>(), ["s0", "u1"]);
    }

    proptest! {
        #[test]
        fn any_text_ends(text in "[s0-9+*/(), -]{0,80}") {
            let _ = value(&text, &BTreeMap::from([("s0".to_owned(), 3)]));
        }
    }
}
