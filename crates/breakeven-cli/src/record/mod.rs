//! Running a script under the recorder: find a Python, start it, watch over it, gather what it wrote.
//!
//! The script keeps our descriptors, our terminal and our process group. What it could notice: its parent process,
//! the variables `BREAKEVEN_*` in its environment, and the recorder in `sys.modules`.

mod child;
mod gather;
mod python;
mod witness;

pub(crate) use child::{Ended, die_by, run, run_and};
pub(crate) use gather::gather;
pub(crate) use python::{Python, find};
