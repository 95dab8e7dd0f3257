//! Memory of this process, read while its owner may change or free it: the kernel copies it, so that an address that is gone
//! is an error and no crash.

/// Copies what lies at `from` into `to` as far as there is memory; gives the bytes copied.
pub(super) fn copy(from: usize, to: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote = libc::iovec { iov_base: from as *mut libc::c_void, iov_len: to.len() };
    // SAFETY: the kernel writes into `to` alone, at most its length, and checks `from` itself.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(copied).unwrap_or(0)
}

/// The words at `from`; `None` where some of them are not there.
pub(super) fn words<const N: usize>(from: usize) -> Option<[usize; N]> {
    let mut bytes = [[0; size_of::<usize>()]; N];
    let all = size_of_val(&bytes);
    (from != 0 && copy(from, bytes.as_flattened_mut()) == all).then(|| bytes.map(usize::from_ne_bytes))
}

/// Reads words from `from` on as far as there is memory; gives how many.
pub(super) fn read<const N: usize>(from: usize, into: &mut [usize; N]) -> usize {
    let mut bytes = [[0; size_of::<usize>()]; N];
    let there = if from == 0 { 0 } else { copy(from, bytes.as_flattened_mut()) / size_of::<usize>() };
    for (word, bytes) in into.iter_mut().zip(&bytes).take(there) {
        *word = usize::from_ne_bytes(*bytes);
    }
    there
}

/// The word at `from`.
pub(super) fn word(from: usize) -> Option<usize> {
    words::<1>(from).map(|[word]| word)
}

/// The C `int` at `from`.
pub(super) fn int(from: usize) -> Option<i32> {
    let mut bytes = [0; 4];
    (from != 0 && copy(from, &mut bytes) == 4).then(|| i32::from_ne_bytes(bytes))
}

/// Whether this process may read its own memory so: a sandbox may refuse the call.
pub(super) fn works() -> bool {
    let known = 0x5eed_usize;
    word(&raw const known as usize) == Some(known)
}

/// A short text, cut to what fits.
#[derive(Clone, Copy)]
pub(super) struct Text {
    bytes: [u8; Self::MOST],
    length: u8,
}

impl Text {
    const MOST: usize = 95;

    pub(super) const fn new() -> Self {
        Self { bytes: [0; Self::MOST], length: 0 }
    }

    /// The C string at `from`, if it is printable ASCII without blanks, as names are.
    pub(super) fn at(from: usize) -> Option<Self> {
        let mut text = Self::new();
        if from == 0 || copy(from, &mut text.bytes) == 0 {
            return None;
        }
        let length = text.bytes.iter().position(|&byte| byte == 0).unwrap_or(Self::MOST);
        text.length = length as u8;
        text.bytes[..length].iter().all(|byte| (b'!'..=b'~').contains(byte)).then_some(text)
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length.into()]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_read_and_what_is_not_is_none() {
        assert!(works());
        let known = [1_usize, 2, 3];
        assert_eq!(words(known.as_ptr() as usize), Some(known));
        assert_eq!(int(known.as_ptr() as usize), Some(1));
        assert_eq!((word(0), word(8), word(usize::MAX - 3)), (None, None, None));
        assert_eq!(Text::at(c"CPUDispatcher".as_ptr() as usize).unwrap().as_str(), "CPUDispatcher");
        assert!(Text::at(c"\x01".as_ptr() as usize).is_none());
        assert!(Text::at(c"   ".as_ptr() as usize).is_none());
        let long = std::ffi::CString::new(vec![b'x'; 100]).unwrap();
        assert_eq!(Text::at(long.as_ptr() as usize).unwrap().as_str().len(), Text::MOST);
    }
}
