//! Protobuf, field by field: numbers and lengths as they stand, without a schema.

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// A varint, or a number of four or eight bytes as its bits.
    Number(u64),
    /// A text, bytes or a message.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// As a number; 0 for a message.
    pub(super) const fn number(self) -> u64 {
        match self {
            Self::Number(n) => n,
            Self::Bytes(_) => 0,
        }
    }

    /// As a whole number with a sign.
    pub(super) const fn signed(self) -> i64 {
        self.number().cast_signed()
    }

    /// As bytes; none for a number.
    pub(super) const fn bytes(self) -> &'a [u8] {
        match self {
            Self::Number(_) => &[],
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// The varint at the beginning, and what follows it.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut n = 0;
    for (at, byte) in bytes.iter().take(10).enumerate() {
        n |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((n, &bytes[at + 1..]));
        }
    }
    None
}

/// The fields of a message: number and value. Ends early where it is damaged or not whole.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    /// It ended in the middle of a field.
    pub(super) broken: bool,
}

impl<'a> Fields<'a> {
    pub(super) const fn of(message: &'a [u8]) -> Self {
        Self { rest: message, broken: false }
    }

    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let (key, rest) = varint(self.rest)?;
        let (value, rest) = match key & 7 {
            0 => varint(rest).map(|(n, rest)| (Value::Number(n), rest))?,
            1 => {
                let (bits, rest) = rest.split_first_chunk::<8>()?;
                (Value::Number(u64::from_le_bytes(*bits)), rest)
            }
            2 => {
                let (long, rest) = varint(rest)?;
                let (bytes, rest) = rest.split_at_checked(usize::try_from(long).ok()?)?;
                (Value::Bytes(bytes), rest)
            }
            5 => {
                let (bits, rest) = rest.split_first_chunk::<4>()?;
                (Value::Number(u64::from(u32::from_le_bytes(*bits))), rest)
            }
            _ => return None,
        };
        self.rest = rest;
        Some((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() || self.broken {
            return None;
        }
        let field = self.field();
        self.broken = field.is_none();
        field
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, Value};
    use proptest::prelude::*;

    #[test]
    fn each_kind_of_field() {
        let message = [0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x1d, 1, 0, 0, 0, 0x21, 2, 0, 0, 0, 0, 0, 0, 0];
        let all: Vec<_> = Fields::of(&message).collect();
        let (n, bytes) = (Value::Number, Value::Bytes(b"hi"));
        assert_eq!(all, [(1, n(150)), (2, bytes), (3, n(1)), (4, n(2))]);
        assert_eq!(Value::Number(u64::MAX).signed(), -1);
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes: Vec<u8>) {
            prop_assert!(Fields::of(&bytes).count() <= bytes.len());
        }
    }
}
