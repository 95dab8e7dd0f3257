//! Scalars that ops of a thread gave and that the host has not been seen to read.

/// How many of them are known one by one: a line of a log prints fewer.
const MANY: usize = 8;

/// A scalar by where it is and what its first bytes are, so that another one in the same place is told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scalar {
    /// Never 0.
    pub(crate) address: usize,
    pub(crate) value: u64,
}

/// Those that were made last. What Python arithmetic makes out of them (`loss < 1e-3`) is no object that an op gave: the
/// first such one after an op is taken for its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unread {
    latest: [Scalar; MANY],
    next: usize,
    /// An element of an array that the host was given last.
    element: Scalar,
    /// None was read since an op gave one.
    any: bool,
}

impl Unread {
    pub(crate) const fn new() -> Self {
        let none = Scalar { address: 0, value: 0 };
        Self { latest: [none; MANY], next: 0, element: none, any: false }
    }

    /// An op gave this one.
    #[inline]
    pub(crate) fn made(&mut self, scalar: Scalar) {
        self.latest[self.next % MANY] = scalar;
        self.next = self.next.wrapping_add(1);
        self.any = true;
    }

    /// The host has this one.
    pub(crate) fn host_has(&mut self, element: Scalar) {
        self.element = element;
    }

    /// The host reads one; whether that brings a value that it did not have.
    pub(crate) fn read(&mut self, scalar: Scalar) -> bool {
        if scalar == self.element {
            return false;
        }
        let known = self.latest.iter_mut().find(|known| **known == scalar).map(std::mem::take).is_some();
        std::mem::take(&mut self.any) || known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(address: usize) -> Scalar {
        Scalar { address, value: 1 }
    }

    #[test]
    fn each_scalar_is_read_once_whatever_was_read_between() {
        let mut unread = Unread::new();
        assert!(!unread.read(scalar(16)));
        unread.made(scalar(16));
        unread.made(scalar(48));
        assert!(unread.read(scalar(16)) && unread.read(scalar(48)));
        assert!(!unread.read(scalar(16)) && !unread.read(scalar(48)));
    }

    #[test]
    fn what_was_made_of_one_is_read_once_too() {
        let mut unread = Unread::new();
        unread.made(scalar(16));
        assert!(unread.read(scalar(80)));
        assert!(!unread.read(scalar(80)));
        // The value that it was made of has not been read, but for that.
        assert!(unread.read(scalar(16)));
    }

    #[test]
    fn another_scalar_in_the_same_place_is_another() {
        let mut unread = Unread::new();
        unread.made(scalar(16));
        assert!(unread.read(scalar(80)));
        assert!(!unread.read(Scalar { address: 16, value: 2 }));
    }

    #[test]
    fn an_element_that_the_host_has_is_no_read_of_another_scalar() {
        let mut unread = Unread::new();
        unread.made(scalar(16));
        unread.host_has(scalar(80));
        assert!(!unread.read(scalar(80)) && unread.read(scalar(16)));
    }

    #[test]
    fn only_the_latest_are_known() {
        let mut unread = Unread::new();
        (1..=MANY + 1).for_each(|i| unread.made(scalar(16 * i)));
        assert!(unread.read(scalar(16 * (MANY + 1))));
        assert!(!unread.read(scalar(16)) && unread.read(scalar(32)));
    }
}
