//! Native hooks: NumPy's own function pointers, replaced in place by trampolines that call the original and note what
//! went in and came out. A file per mechanism.
//!
//! What holds for all of them:
//! - the interpreter's lock is held whenever a trampoline but the allocator's runs (free-threaded builds are refused);
//! - the original pointer is stored before the hook is published, and hooks are never unloaded;
//! - a trampoline takes no reference to its arguments, leaves a pending exception and `errno` alone, and a panic in
//!   our part ends recording, not the script.
#![expect(unsafe_code, reason = "function pointers of another library are replaced and called; see each SAFETY note")]

mod again;
pub(crate) mod allocator;
mod array;
pub(crate) mod bound;
pub(crate) mod clock;
pub(crate) mod compiled;
pub(crate) mod depth;
pub(crate) mod exported;
pub(crate) mod frames;
pub(crate) mod free;
mod functions;
pub(crate) mod install;
pub(crate) mod jitted;
mod lock;
pub(crate) mod loops;
mod methods;
pub(crate) mod outside;
pub(crate) mod passing;
mod patch;
pub(crate) mod paths;
pub(crate) mod placed;
pub(crate) mod platform;
mod random;
pub(crate) mod reads;
pub(crate) mod sampler;
mod scalar;
mod signature;
mod slots;
pub(crate) mod state;
pub(crate) mod time;
pub(crate) mod torch;
mod ufunc;

pub(crate) use platform::is_main_interpreter;
