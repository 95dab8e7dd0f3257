//! What the operating system says about an address: may it be written, and whose code is it?

use std::ffi::{CStr, c_void};

/// Mapped memory of this process, as far as its contents matter for patching.
pub(super) struct Mappings(Vec<Mapping>);

struct Mapping {
    start: usize,
    end: usize,
    writable: bool,
    executable: bool,
}

impl Mappings {
    /// Reads them now. Empty where the system does not tell, so that nothing is patched there.
    pub(super) fn read() -> Self {
        let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Self(text.lines().filter_map(mapping).collect())
    }

    /// Whether a pointer at `address` may be written.
    pub(super) fn is_writable(&self, address: usize) -> bool {
        let end = address.saturating_add(size_of::<usize>());
        self.0.iter().any(|m| m.writable && m.start <= address && end <= m.end)
    }

    fn is_executable(&self, address: usize) -> bool {
        self.0.iter().any(|m| m.executable && (m.start..m.end).contains(&address))
    }

    /// Whether `function` is code of NumPy, of Python itself, or of a module that comes with it.
    pub(super) fn is_trusted(&self, function: *const c_void) -> bool {
        self.is_executable(function as usize)
            && object_file(function).is_some_and(|file| {
                let name = file.rsplit('/').next().unwrap_or(&file);
                let of_python = file.contains("/lib-dynload/") || name.starts_with("libpython");
                file.contains("/numpy/") || of_python || name.starts_with("python")
            })
    }
}

/// Has this process killed when the thread that started it ends; stays so across `exec`, children do not inherit it.
#[pyo3::pyfunction]
pub(crate) fn die_with_parent() {
    #[cfg(target_os = "linux")]
    // SAFETY: sets a number in the process's own kernel state; no memory is passed.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
    }
}

/// Whether this is the thread that the process began with.
#[cfg(target_os = "linux")]
pub(crate) fn is_main_thread() -> bool {
    // SAFETY: both only ask.
    unsafe { libc::gettid() == libc::getpid() }
}

/// Whether this is the thread that the process began with: not known elsewhere.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_main_thread() -> bool {
    false
}

/// How often threads of this process have given up a CPU to wait for something; 0 where the system does not say.
pub(crate) fn switches() -> u64 {
    // SAFETY: a structure of numbers, for which zeros are valid; the call fills it, or fails and leaves it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage.ru_nvcsw as u64
    }
}

fn mapping(line: &str) -> Option<Mapping> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?.as_bytes();
    Some(Mapping {
        start: usize::from_str_radix(start, 16).ok()?,
        end: usize::from_str_radix(end, 16).ok()?,
        writable: permissions.get(1) == Some(&b'w'),
        executable: permissions.get(2) == Some(&b'x'),
    })
}

/// Path of the file that `address` was loaded from.
pub(super) fn object_file(address: *const c_void) -> Option<String> {
    loaded(address, |info| info.dli_fname)
}

/// The exported function at `address`.
pub(super) fn symbol(address: *const c_void) -> Option<String> {
    loaded(address, |info| if info.dli_saddr == address.cast_mut() { info.dli_sname } else { std::ptr::null() })
}

fn loaded(address: *const c_void, name: impl Fn(&libc::Dl_info) -> *const libc::c_char) -> Option<String> {
    // SAFETY: an all-zero `Dl_info` is valid; `dladdr` only compares `address` and fills `info` where it returns
    // non-zero, with names that live as long as the object is loaded. They are copied at once.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &raw mut info) == 0 || name(&info).is_null() {
            return None;
        }
        Some(CStr::from_ptr(name(&info)).to_string_lossy().into_owned())
    }
}

/// Whether this is the interpreter that the process started with.
pub(crate) fn is_main_interpreter(_: pyo3::Python<'_>) -> bool {
    // SAFETY: the lock is held; both calls only read.
    unsafe { pyo3::ffi::PyInterpreterState_GetID(pyo3::ffi::PyInterpreterState_Get()) == 0 }
}

/// `errno`, put back when dropped.
pub(super) struct Errno(libc::c_int);

impl Errno {
    /// As it is now.
    #[inline]
    pub(super) fn save() -> Self {
        // SAFETY: the address of the running thread's `errno` is always valid.
        Self(unsafe { *location() })
    }
}

impl Drop for Errno {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { *location() = self.0 }
    }
}

#[inline]
unsafe fn location() -> *mut libc::c_int {
    // SAFETY: a libc call without arguments.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::__errno_location()
    }
    // SAFETY: as above.
    #[cfg(not(target_os = "linux"))]
    unsafe {
        libc::__error()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_it_is() {
        let maps = Mappings::read();
        let local = 0usize;
        assert!(maps.is_writable(&raw const local as usize));
        assert!(!maps.is_writable(Mappings::read as fn() -> Mappings as usize));
        assert!(!maps.is_writable(0));
        assert!(maps.is_executable(Mappings::read as fn() -> Mappings as usize));
        assert!(!maps.is_trusted(Mappings::read as fn() -> Mappings as *const c_void));
    }
}
