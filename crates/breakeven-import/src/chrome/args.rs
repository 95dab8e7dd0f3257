//! The members of `args` that tie an event to a GPU, a call or an op.

use crate::json::members;
use crate::times::{nanoseconds, whole};

/// What `args` says, as far as it is asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Args {
    pub(crate) device: Option<i64>,
    pub(crate) stream: Option<i64>,
    pub(crate) correlation: Option<i64>,
    pub(crate) external: Option<i64>,
    pub(crate) bytes: Option<u64>,
    /// From when to when in ns, as rocprof writes it beside rounded times.
    pub(crate) begin_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
}

impl Args {
    pub(crate) fn of(object: &[u8]) -> Self {
        let mut args = Self::default();
        members(object, |key, value| match key {
            b"device" => args.device = whole(value),
            b"stream" => args.stream = whole(value),
            b"correlation" => args.correlation = whole(value),
            b"External id" | b"external id" => args.external = whole(value),
            b"bytes" | b"size" => args.bytes = whole(value).and_then(|n| u64::try_from(n).ok()),
            b"dev-id" => args.device = whole(value),
            b"BeginNs" => args.begin_ns = nanoseconds(value, 0),
            b"EndNs" => args.end_ns = nanoseconds(value, 0),
            _ => {}
        });
        args
    }
}
