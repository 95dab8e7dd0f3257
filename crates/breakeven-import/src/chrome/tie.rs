//! What ties a kernel to the call that launched it, and by it to the host op, module and source line; a copy to its bytes.

use super::args::Args;
use crate::enclosing::{Moment, enclosing};
use crate::model::{HostOp, Trace};
use crate::names::Name;
use crate::span::Tally;
use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;

/// A call of the host that may have launched something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Launch {
    correlation: i64,
    /// The host op that it belongs to.
    external: Option<i64>,
    thread: u32,
    at: i64,
}

/// Which frames of Python are kept.
#[derive(Clone, Copy)]
pub(super) enum Frames {
    Modules,
    Lines,
}

/// What ties the parts of a file together, known when all of it is read.
#[derive(Default)]
pub(super) struct Ties {
    /// The correlation and the host op of each kernel.
    kernels: Vec<(Option<i64>, Option<i64>)>,
    /// The correlation of each copy.
    copies: Vec<Option<i64>>,
    calls: Vec<Launch>,
    /// Bytes that calls say, for copies that do not.
    sizes: HashMap<i64, u64>,
    ops: Vec<(i64, Name, Option<NonZeroU32>)>,
    modules: Vec<HostOp>,
    lines: Vec<HostOp>,
}

/// What frames of modules begin with.
const MODULE: &[u8] = b"nn.Module: ";
/// Parts of paths of code that is not the user's.
const LIBRARIES: [&str; 7] =
    ["torch/", "site-packages/", "dist-packages/", "lib/python3", "<frozen", "<string>", "<eval"];

fn told(external: Option<i64>) -> Option<i64> {
    external.filter(|id| *id != 0)
}

impl Ties {
    pub(super) fn kernel(&mut self, args: &Args) {
        self.kernels.push((args.correlation, told(args.external)));
    }

    pub(super) fn copy(&mut self, args: &Args) {
        self.copies.push(args.correlation);
    }

    pub(super) fn call(&mut self, args: &Args, thread: u32, at: i64) {
        let Some(correlation) = args.correlation else { return };
        self.calls.push(Launch { correlation, external: told(args.external), thread, at });
        if let Some(bytes) = args.bytes {
            self.sizes.insert(correlation, bytes);
        }
    }

    pub(super) fn op(&mut self, external: i64, name: Name, work: Option<NonZeroU32>) {
        self.ops.push((external, name, work));
    }

    /// What a frame of Python is kept as, and its name; `None` for those of libraries.
    pub(super) fn frames<'a>(&self, name: &'a [u8]) -> Option<(&'a [u8], Frames)> {
        if let Some(module) = name.strip_prefix(MODULE) {
            return Some((module, Frames::Modules));
        }
        let line = memchr::memmem::find(name, b".py(")?;
        let path = &name[..line];
        let library = LIBRARIES.iter().any(|part| memchr::memmem::find(path, part.as_bytes()).is_some());
        // Python's own files have no folder: `threading.py`, `contextlib.py`.
        (!library && !PYTHON.contains(&path)).then_some((name, Frames::Lines))
    }

    pub(super) fn frame(&mut self, frames: Frames, frame: HostOp) {
        match frames {
            Frames::Modules => self.modules.push(frame),
            Frames::Lines => self.lines.push(frame),
        }
    }

    /// How many kernels have no launch in the file.
    pub(super) fn without_launch(&self) -> u64 {
        let launched = |(correlation, _): &&(Option<i64>, _)| correlation.is_some_and(|c| self.launch(c).is_some());
        self.kernels.iter().filter(|kernel| !launched(kernel)).count() as u64
    }

    /// The first launch of a correlation that knows its host op, or the first at all.
    fn launch(&self, correlation: i64) -> Option<Launch> {
        let at = self.calls.partition_point(|launch| launch.correlation < correlation);
        let same = || self.calls[at..].iter().take_while(|launch| launch.correlation == correlation).copied();
        same().find(|launch| launch.external.is_some()).or_else(|| same().next())
    }

    /// Ties kernels to host ops, modules and lines, and copies to bytes, by the calls that asked for them.
    pub(super) fn tie(&mut self, trace: &mut Trace) {
        self.calls.sort_unstable();
        self.ops.sort_unstable();
        let (mut modules, mut lines) = (Vec::new(), Vec::new());
        for ((of, (correlation, external)), kernel) in (0_u32..).zip(&self.kernels).zip(&mut trace.kernels) {
            let launch = correlation.and_then(|c| self.launch(c));
            let external = external.or_else(|| launch.and_then(|launch| launch.external));
            if let Some(external) = external {
                let at = self.ops.partition_point(|(known, ..)| *known < external);
                if let Some((_, op, work)) = self.ops.get(at).filter(|(known, ..)| *known == external) {
                    trace.by_op.entry(*op).or_default().add(kernel.when.length());
                    kernel.work = *work;
                }
            }
            if let Some(Launch { thread, at, .. }) = launch {
                let before = kernel.when.span().and_then(|span| u32::try_from(span.from.checked_sub(at)?).ok());
                kernel.asked_before = before.unwrap_or(u32::MAX);
                modules.push(Moment { thread, at, of });
                lines.push(Moment { thread, at, of });
            }
        }
        for (frames, moments, by) in
            [(&mut self.modules, &mut modules, &mut trace.by_module), (&mut self.lines, &mut lines, &mut trace.by_line)]
        {
            let kernels = &trace.kernels;
            let by: &mut BTreeMap<Name, Tally> = by;
            enclosing(frames, moments, |of, name| {
                by.entry(name).or_default().add(kernels[of as usize].when.length());
            });
        }
        for (copy, correlation) in trace.copies.iter_mut().zip(&self.copies) {
            copy.bytes = copy.bytes.or_else(|| self.sizes.get(&(*correlation)?).copied());
        }
    }
}

/// Python's own files around the user's code.
const PYTHON: [&[u8]; 5] = [b"threading", b"contextlib", b"runpy", b"functools", b"queue"];
