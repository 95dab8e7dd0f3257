//! ONNX Runtime's profile of a session: what its operators took on the host, with their shapes.

use super::build::Build;
use crate::json::{Event, members};
use crate::model::{HostOp, Step};
use std::fmt::Write;

/// What the name of an operator's event ends in; others are fences around it.
const OPERATOR: &[u8] = b"_kernel_time";
/// What one run of the model is called.
const RUN: &[u8] = b"model_run";

/// Whether an event is of such a profile.
pub(super) fn is_onnxruntime(event: &Event<'_>) -> bool {
    match event.category {
        b"Node" => event.name.ends_with(OPERATOR),
        b"Session" => {
            [b"model_loading" as &[u8], b"session_initialization", RUN].iter().any(|name| event.name.starts_with(name))
        }
        _ => false,
    }
}

impl Build {
    /// An event of such a profile: an operator by its kind and shapes, or a stage of the session.
    pub(super) fn onnxruntime_event(&mut self, event: &Event<'_>) {
        if event.category == b"Node" && !event.name.ends_with(OPERATOR) {
            return;
        }
        let Some(span) = self.span(event) else { return };
        let thread = self.thread(event);
        if event.name == RUN {
            let number = i64::try_from(self.trace.steps.len()).unwrap_or(i64::MAX);
            self.trace.steps.push(Step { number, span, process: 0 });
        }
        let operator = (event.category == b"Node").then(|| operator(event.args)).flatten();
        let name = match &operator {
            Some((kind, _)) => self.trace.names.name(kind.as_bytes()),
            None => self.trace.names.name(event.name.strip_suffix(OPERATOR).unwrap_or(event.name)),
        };
        if let Some((_, shown)) = &operator {
            let with_shapes = self.trace.names.name(shown.as_bytes());
            self.trace.by_op.entry(with_shapes).or_default().add(span.length());
        }
        self.trace.ops.push(HostOp { span, name, thread });
    }
}

/// The kind of an operator, and with the shapes of its inputs, as far as they are given: `MatMul 8×64, 64×32`.
fn operator(args: &[u8]) -> Option<(String, String)> {
    let (mut name, mut shapes): (Option<&[u8]>, &[u8]) = (None, &[]);
    members(args, |key, value| match (key, value) {
        (b"op_name", [b'"', inner @ .., b'"']) => name = Some(inner),
        (b"input_type_shape", value) => shapes = value,
        _ => {}
    });
    let kind = String::from_utf8_lossy(name?).into_owned();
    let mut shown = kind.clone();
    let inputs: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_slice(shapes).unwrap_or_default();
    let dims = inputs.iter().flat_map(serde_json::Map::values);
    for (at, dims) in dims.filter_map(serde_json::Value::as_array).enumerate() {
        let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
        let shape = if dims.is_empty() { "scalar".to_owned() } else { dims.join("×") };
        let _ = write!(shown, "{}{shape}", if at == 0 { " " } else { ", " });
    }
    Some((kind, shown))
}
