//! Words of JAX's and TensorFlow's profiler: planes, lines and events by their names.

use crate::calls::does;

/// The number of a device plane: `/device:GPU:0`, with or without the device's name behind it.
pub(crate) fn device_number(plane: &str) -> Option<i64> {
    let rest = plane.strip_prefix("/device:GPU:").or_else(|| plane.strip_prefix("/device:TPU:"))?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// What a line of a device plane holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceLine {
    /// Kernels and copies of a stream.
    Stream(Option<i64>),
    /// Operations of XLA: on a TPU all there is, on a GPU the kernels of streams again.
    Ops,
    /// The same time told in other ways: modules, steps, scopes, source lines.
    Again,
}

/// What a line of a device plane holds, by its name: `Stream #13(Compute,MemcpyH2D)`.
pub(crate) fn device_line(name: &str) -> DeviceLine {
    match name.strip_prefix("Stream #") {
        Some(rest) => DeviceLine::Stream(rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok())),
        None if name == "XLA Ops" => DeviceLine::Ops,
        None => DeviceLine::Again,
    }
}

/// Whether an operation of XLA contains others, which are events of their own.
pub(crate) fn contains_others(op: &[u8]) -> bool {
    let stem = op.strip_prefix(b"%").unwrap_or(op);
    [b"while" as &[u8], b"conditional", b"call"]
        .iter()
        .any(|word| stem.strip_prefix(*word).is_some_and(|rest| matches!(rest.first(), None | Some(b'.' | b' '))))
}

/// What an event of a host thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostEvent {
    /// A mark that says nothing of its own: `end: dot.3`, `ThreadpoolListener::Record`.
    Aside,
    /// A frame of Python: `$train.py:12 step`.
    Frame,
    /// A call into the GPU's library.
    Call,
    /// Anything else.
    Op,
}

impl HostEvent {
    /// What an event is by its name.
    pub(crate) fn of(name: &[u8]) -> Self {
        match name {
            _ if name.starts_with(b"end: ") || name.starts_with(b"ThreadpoolListener::") => Self::Aside,
            [b'$', ..] => Self::Frame,
            _ if (name.starts_with(b"cu") || name.starts_with(b"hip")) && does(name).is_some() => Self::Call,
            _ => Self::Op,
        }
    }
}

/// Whether an event of the host fetches data.
pub(crate) fn loads(name: &[u8]) -> bool {
    name.starts_with(b"IteratorGetNext") || name.starts_with(b"Iterator::GetNext")
}

/// The bytes of a copy's details: `kind_src:pinned kind_dst:device size:1024 dest:0 async:1`.
pub(crate) fn bytes_of(details: &str) -> Option<u64> {
    let field = |name: &str| details.split([' ', ',', '"']).find_map(|part| part.strip_prefix(name)?.parse().ok());
    field("size:").or_else(|| field("num_bytes:"))
}

#[cfg(test)]
mod tests {
    use super::{DeviceLine, HostEvent, bytes_of, contains_others, device_line, device_number};

    #[test]
    fn names_that_are_met() {
        assert_eq!(device_number("/device:GPU:3"), Some(3));
        assert_eq!(device_number("/device:GPU:0 NVIDIA H100"), Some(0));
        assert_eq!(device_number("/device:CUSTOM:Megascale Trace"), None);
        assert_eq!(device_line("Stream #13(Compute,MemcpyH2D)"), DeviceLine::Stream(Some(13)));
        assert_eq!(device_line("XLA Ops"), DeviceLine::Ops);
        assert_eq!(device_line("XLA Modules"), DeviceLine::Again);
        assert!(contains_others(b"while.5") && contains_others(b"%while") && !contains_others(b"while_fusion"));
        assert_eq!(HostEvent::of(b"end: ynn_fusion"), HostEvent::Aside);
        assert_eq!(HostEvent::of(b"$profiler.py:101 start_trace"), HostEvent::Frame);
        assert_eq!(HostEvent::of(b"hipModuleLaunchKernel"), HostEvent::Call);
        assert_eq!(HostEvent::of(b"custom op"), HostEvent::Op);
        assert_eq!(bytes_of("kind_src:pinned kind_dst:device size:1024 dest:0 async:1"), Some(1024));
        assert_eq!(bytes_of("kind_src:pinned"), None);
    }
}
