//! Reading a machine file: of which version it is, and whether its figures can be.

use super::{FORMAT, MachineFile};
use crate::interval::Interval;
use crate::report::words;
use crate::workload::Op;
use crate::{Error, Result, place};
use serde::Deserialize;

/// No kernel takes longer, s.
const LONGEST: f64 = 3600.0;
/// No clock tells less, s.
const SHORTEST: f64 = 1e-10;
/// More kernels than any calibration measures.
const MOST: usize = 100_000;

/// Reads a machine file.
///
/// # Errors
/// Text that is no machine file or is cut short, a file of another version, a time or power that cannot be.
///
/// ```
/// let error = breakeven::calibration::read("{").unwrap_err();
/// assert_eq!(error.code, "bad-machine");
/// let error = breakeven::calibration::read(r#"{"format": "breakeven.machine/9"}"#).unwrap_err();
/// assert!(error.message.contains("breakeven.machine/9"));
/// ```
pub fn read(text: &str) -> Result<MachineFile> {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    let head: Head = serde_json::from_str(text).map_err(|error| refused(text, &error))?;
    if head.format != FORMAT {
        let given = words::printable(&head.format, 60);
        return Err(bad(format!("it is of the format `{given}`: this version of breakeven reads `{FORMAT}`")));
    }
    let file: MachineFile = serde_json::from_str(text).map_err(|error| refused(text, &error))?;
    check(&file)?;
    Ok(file)
}

fn refused(text: &str, error: &serde_json::Error) -> Error {
    if error.is_eof() {
        return bad("it is cut short".to_owned());
    }
    let path = place::of(text.as_bytes(), error);
    let at = if path.is_empty() { path } else { format!(" at `{path}`") };
    bad(words::printable(&format!("it does not read{at}: {error}"), 400))
}

fn bad(message: String) -> Error {
    Error::new("bad-machine", format!("the machine file cannot be used: {message}"))
        .hint("`breakeven calibrate` on that machine makes it again")
        .field("machine")
}

fn check(file: &MachineFile) -> Result<()> {
    if file.kernels.len() > MOST || file.costs.len() > MOST {
        return Err(bad(format!("it has {} kernels: {MOST} are allowed", file.kernels.len().max(file.costs.len()))));
    }
    for (i, kernel) in file.kernels.iter().enumerate() {
        let at = format!("kernels[{i}]");
        if !possible(kernel.seconds) {
            return Err(bad(impossible(&at, kernel.seconds)));
        }
        let timed = kernel.op.is_array_work() || matches!(kernel.op, Op::Transfer { .. });
        if !timed || matches!(kernel.op, Op::Routine { .. } | Op::Collective { .. }) {
            return Err(bad(format!("{at} is of the family {}, which is no kernel", kernel.op.family().name())));
        }
    }
    if let Some((i, cost)) = file.costs.iter().enumerate().find(|(_, cost)| !possible(cost.seconds)) {
        return Err(bad(impossible(&format!("costs[{i}]"), cost.seconds)));
    }
    let board = file.gpu.iter().flat_map(|gpu| [gpu.idle_w, gpu.busy_w]).flatten();
    if let Some(watts) = board.into_iter().find(|w| !(0.0..=1e5).contains(w)) {
        return Err(bad(format!("the GPU's power is {watts} W: 0 to 100,000 are allowed")));
    }
    if let Some(busy) = file.busy.filter(|share| !(0.0..=1.0).contains(share)) {
        return Err(bad(format!("`busy` is {busy}: 0 to 1 is allowed")));
    }
    Ok(())
}

fn possible(time: Interval) -> bool {
    SHORTEST <= time.p10 && time.p10 <= time.p50 && time.p50 <= time.p90 && time.p90 <= LONGEST
}

fn impossible(at: &str, Interval { p10, p50, p90 }: Interval) -> String {
    format!(
        "the times of {at} are {p10:e}, {p50:e} and {p90:e} s: rising ones from {SHORTEST:e} to {LONGEST} are allowed"
    )
}
