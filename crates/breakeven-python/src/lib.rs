//! `breakeven._native`: records what NumPy does, in place, and answers through the engine.

mod address;
mod api;
mod ast;
mod buffers;
mod bytecode;
mod dump;
mod engine;
mod event;
mod fleet;
mod flush;
mod frameless;
mod gate;
mod gone;
mod hooks;
mod lines;
mod modules;
mod named;
mod names;
mod one_op;
mod ours;
mod sampled;
mod scalars;
mod selftest;
mod spread;
mod stand_in;
mod steady;
mod steps;
mod subclass;
mod table;
mod tensors;
mod thread;
mod waited;

use pyo3::prelude::*;

/// The native module of the package `breakeven`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::api::{
        after_fork_child, calibrate, device_memory, device_tag, enter, event, flush, flush_every, host_made, host_read,
        idle, import_begins, import_ends, install, know_arrays, leave, marker, on_library_code, recording, rescan,
        reset, set_program, snapshot, start, stop, undo, unseen, unsupported,
    };
    #[pymodule_export]
    use super::ast::{watch, watched, watched_host, watched_pick, watched_put_back, watched_store};
    #[pymodule_export]
    use super::engine::{answer, compiled, report};
    #[pymodule_export]
    use super::fleet::fleet;
    #[pymodule_export]
    use super::frameless::Frameless;
    #[pymodule_export]
    use super::gone::{Dies, GivesBack};
    #[pymodule_export]
    use super::hooks::compiled::{compiled_again, compiled_watch};
    #[pymodule_export]
    use super::hooks::exported::exported_hook;
    #[pymodule_export]
    use super::hooks::free::time_frees;
    #[pymodule_export]
    use super::hooks::jitted::{
        jitted_fast, jitted_hook, jitted_missed, jitted_next, jitted_number, jitted_ran, jitted_read, jitted_within,
    };
    #[pymodule_export]
    use super::hooks::loops::{Loop, Moment};
    #[pymodule_export]
    use super::hooks::outside::work_of_call;
    #[pymodule_export]
    use super::hooks::passing::{Passing, PassingAttribute, Whole, calls_must_pass, calls_pass, is_mode_off, mode_on};
    #[pymodule_export]
    use super::hooks::paths::of_steps;
    #[pymodule_export]
    use super::hooks::placed::{Moves, placed_again, storage_put};
    #[pymodule_export]
    use super::hooks::platform::die_with_parent;
    #[pymodule_export]
    use super::hooks::reads::{Reads, reads_differ};
    #[pymodule_export]
    use super::hooks::torch::{
        Dispatch, Function, autocast_is, beside, call_noted, called_with, clock_ns, clock_ticks, loading, no_gap,
        pretend, sides_known, step_calls, step_end, step_in_part, storage_bytes, storage_done_without, storage_freed,
        storage_left, storage_new, storage_refused, storage_resized, storage_role, storage_side, tensor_context,
        tensor_event,
    };
    #[pymodule_export]
    use super::modules::{Backward, ModuleCall, StepHook, leave_unwatched};
    #[pymodule_export]
    use super::named::Named;
    #[pymodule_export]
    use super::one_op::{OneOp, callables};
    #[pymodule_export]
    use super::ours::of_script;
    #[pymodule_export]
    use super::subclass::constructor;
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("MECHANISMS", pyo3::types::PyTuple::new(module.py(), super::hooks::install::MECHANISMS)?)
    }
}
