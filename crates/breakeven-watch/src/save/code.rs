//! Whole numbers as letters: what a file is made of.
//!
//! Each value is the difference from what the one before foretells, folded (0, −1, 1, −2 … become 0, 1, 2, 3 …) and written
//! five bits at a time, the lowest first, as the letters from `?` on; all letters but the last of a value have 32 added. An
//! unknown value is `!`, and the next known one is a difference from the last that was. Most values of a session take one
//! letter.

/// The letter of an unknown value.
const UNKNOWN: u8 = b'!';
/// The first letter.
const FIRST: u8 = b'?';
/// More letters follow.
const MORE: u64 = 32;

/// What foretells the next value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foretold {
    /// The last one.
    Same,
    /// The last one and its difference from the one before: for counters and time.
    Steady,
}

/// What a column remembers of its values.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    last: i64,
    step: i64,
}

impl Memory {
    const fn foretold(self, how: Foretold) -> i64 {
        match how {
            Foretold::Same => self.last,
            Foretold::Steady => self.last.wrapping_add(self.step),
        }
    }

    const fn met(self, value: i64) -> Self {
        Self { last: value, step: value.wrapping_sub(self.last) }
    }
}

/// A column of one frame as it grows.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    how: Foretold,
    memory: Memory,
    letters: Vec<u8>,
    known: bool,
}

impl Column {
    pub(crate) const fn new(how: Foretold) -> Self {
        Self { how, memory: Memory { last: 0, step: 0 }, letters: Vec::new(), known: false }
    }

    /// The next value.
    pub(crate) fn push(&mut self, value: Option<i64>) {
        let Some(value) = value else { return self.letters.push(UNKNOWN) };
        let difference = value.wrapping_sub(self.memory.foretold(self.how));
        let mut folded = ((difference << 1) ^ (difference >> 63)) as u64;
        while folded >= MORE {
            self.letters.push(FIRST + (folded & (MORE - 1) | MORE) as u8);
            folded >>= 5;
        }
        self.letters.push(FIRST + folded as u8);
        self.memory = self.memory.met(value);
        self.known = true;
    }

    /// Its letters, unless nothing in it is known; then it is empty again.
    pub(crate) fn take(&mut self) -> Option<String> {
        let column = std::mem::replace(self, Self::new(self.how));
        column.known.then(|| String::from_utf8(column.letters).unwrap_or_default())
    }
}

/// The values of a line of letters, `None` for what is unknown or cannot be read.
pub(crate) fn values(letters: &str, how: Foretold) -> impl Iterator<Item = Option<i64>> + '_ {
    let mut bytes = letters.bytes();
    let mut memory = Memory::default();
    std::iter::from_fn(move || {
        let (mut folded, mut shift) = (0_u64, 0);
        loop {
            let letter = bytes.next()?;
            if letter == UNKNOWN {
                return Some(None);
            }
            let bits = u64::from(letter.checked_sub(FIRST)?);
            folded |= (bits & (MORE - 1)).checked_shl(shift).unwrap_or(0);
            if bits < MORE {
                break;
            }
            shift += 5;
        }
        let difference = (folded >> 1) as i64 ^ -((folded & 1) as i64);
        let value = memory.foretold(how).wrapping_add(difference);
        memory = memory.met(value);
        Some(Some(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_written_is_read(all in prop::collection::vec(prop::option::weighted(0.9, any::<i64>()), 0..200)) {
            for how in [Foretold::Same, Foretold::Steady] {
                let mut column = Column::new(how);
                all.iter().for_each(|value| column.push(*value));
                let letters = column.take();
                prop_assert_eq!(letters.is_some(), all.iter().any(Option::is_some));
                if let Some(letters) = letters {
                    prop_assert!(letters.bytes().all(|letter| letter.is_ascii_graphic()));
                    prop_assert_eq!(values(&letters, how).collect::<Vec<_>>(), all.clone());
                }
            }
        }

        #[test]
        fn no_letters_can_do_harm(letters in "[ -~]{0,60}") {
            prop_assert!(values(&letters, Foretold::Steady).count() <= letters.len());
        }
    }

    #[test]
    fn small_changes_take_a_letter_each() {
        let mut column = Column::new(Foretold::Steady);
        [0, 100, 200, 301, 401].into_iter().for_each(|value| column.push(Some(value)));
        assert_eq!(column.take().unwrap().len(), "?".len() + 2 + 1 + 1 + 1);
    }
}
