//! XPlane, as the profiler of JAX and TensorFlow writes it: protobuf, read field by field.

mod words;

pub(crate) use words::{DeviceLine, HostEvent, bytes_of, contains_others, device_line, device_number};
