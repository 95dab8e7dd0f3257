//! The part of a stream that is being looked at.

use std::io::{self, Read};

/// Bytes read at a time.
const PIECE: usize = 256 << 10;
/// No event is longer, bytes.
const LONGEST: usize = 32 << 20;

/// A stream of bytes, and those that are at hand.
pub(crate) struct Window<'a> {
    from: &'a mut dyn Read,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    passed: u64,
}

impl<'a> Window<'a> {
    pub(crate) fn new(from: &'a mut dyn Read) -> Self {
        Self { from, buffer: vec![0; PIECE], at: 0, filled: 0, passed: 0 }
    }

    /// What is at hand.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.buffer[self.at..self.filled]
    }

    /// Leaves `n` bytes behind.
    pub(crate) fn advance(&mut self, n: usize) {
        let n = n.min(self.filled - self.at);
        self.at += n;
        self.passed += n as u64;
    }

    /// Bytes left behind so far.
    pub(crate) const fn passed(&self) -> u64 {
        self.passed
    }

    /// Has more at hand than before; false at the end of the stream, or where too much is at hand already.
    pub(crate) fn more(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.at..self.filled, 0);
        self.filled -= self.at;
        self.at = 0;
        if self.filled * 2 > self.buffer.len() {
            if self.buffer.len() >= LONGEST {
                return Ok(false);
            }
            let longer = self.buffer.len() * 2;
            self.buffer.resize(longer, 0);
        }
        let before = self.filled;
        while self.filled < self.buffer.len() {
            match self.from.read(&mut self.buffer[self.filled..]) {
                Ok(0) => break,
                Ok(n) => self.filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.filled > before)
    }
}
