//! Protobuf as a stream: what is not wanted is passed over and never in memory.

use std::io::{self, BufRead, Read};

/// A field's value: a number, or so many bytes that come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Number(u64),
    Long(u64),
}

/// A message that is read from front to back.
#[derive(Debug)]
pub(super) struct Wire<R> {
    from: R,
    at: u64,
    /// It ended in the middle of a field, or something in it is no protobuf.
    pub(super) broken: bool,
}

impl<R: BufRead> Wire<R> {
    pub(super) const fn new(from: R) -> Self {
        Self { from, at: 0, broken: false }
    }

    /// Where it is, bytes from the beginning.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = loop {
            match self.from.fill_buf() {
                Ok(buffer) => break buffer.first().copied(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break None,
            }
        };
        if byte.is_some() {
            self.from.consume(1);
            self.at += 1;
        }
        byte
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut n = 0;
        for shift in 0..10 {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7f) << (7 * shift);
            if byte & 0x80 == 0 {
                return Some(n);
            }
        }
        None
    }

    /// The next field of a message that ends at `end`; `None` at its end, or where it is broken.
    pub(super) fn field(&mut self, end: u64) -> Option<(u64, Value)> {
        if self.broken || self.at >= end {
            return None;
        }
        // The whole file ends where it ends.
        if end == u64::MAX && self.from.fill_buf().is_ok_and(<[u8]>::is_empty) {
            return None;
        }
        let field = self.any_field(end);
        self.broken |= field.is_none();
        field
    }

    fn any_field(&mut self, end: u64) -> Option<(u64, Value)> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Number(self.fixed::<8>()?),
            2 => {
                let long = self.varint()?;
                self.at.checked_add(long).filter(|&last| last <= end)?;
                Value::Long(long)
            }
            5 => Value::Number(self.fixed::<4>()?),
            _ => return None,
        };
        Some((key >> 3, value))
    }

    fn fixed<const N: usize>(&mut self) -> Option<u64> {
        let mut bits = 0;
        for at in 0..N {
            bits |= u64::from(self.byte()?) << (8 * at);
        }
        Some(bits)
    }

    /// So many bytes; shorter where the file ends.
    pub(super) fn bytes(&mut self, long: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let read = self.from.by_ref().take(long).read_to_end(&mut bytes);
        self.at += bytes.len() as u64;
        self.broken |= read.is_err() || (bytes.len() as u64) < long;
        bytes
    }

    /// Text of at most so many bytes; what is longer is cut.
    pub(super) fn text(&mut self, long: u64) -> String {
        const LONGEST: u64 = 4096;
        let bytes = self.bytes(long.min(LONGEST));
        self.skip(long.saturating_sub(LONGEST));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Passes over so many bytes.
    pub(super) fn skip(&mut self, long: u64) {
        let mut left = long;
        while left > 0 {
            let here = match self.from.fill_buf() {
                Ok(buffer) => buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            if here == 0 {
                self.broken = true;
                return;
            }
            self.from.consume(here);
            self.at += here as u64;
            left -= here as u64;
        }
    }

    /// Passes over a value that is not wanted.
    pub(super) fn pass(&mut self, value: Value) {
        if let Value::Long(long) = value {
            self.skip(long);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_one_after_the_other() {
        let message = [0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x1d, 1, 0, 0, 0];
        let mut wire = Wire::new(&message[..]);
        assert_eq!(wire.field(u64::MAX), Some((1, Value::Number(150))));
        assert_eq!(wire.field(u64::MAX), Some((2, Value::Long(2))));
        assert_eq!(wire.text(2), "hi");
        assert_eq!(wire.field(u64::MAX), Some((3, Value::Number(1))));
        assert_eq!((wire.field(u64::MAX), wire.broken), (None, false));
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes: Vec<u8>) {
            let mut wire = Wire::new(&bytes[..]);
            while let Some((_, value)) = wire.field(u64::MAX) {
                wire.pass(value);
            }
            prop_assert!(wire.at() <= bytes.len() as u64);
        }
    }
}
