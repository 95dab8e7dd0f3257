//! The real transform for real input: half of the spectrum of a real signal repeats the other half.

use super::super::draft::Draft;
use super::super::source::assignment;
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::workload::op::Fft;
use crate::workload::{Entry, Op};

pub(super) const EDIT: Edit = Edit { id: "real-fft", sides: &[Side::Gpu, Side::Cpu], apply };

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    // Who goes back by a complex transform, or moves the halves about, needs all of the spectrum.
    let whole = |e: &Entry| ["ifft", "fftshift"].iter().any(|name| e.name.contains(name));
    if draft.workload.ops.iter().any(whole) {
        return None;
    }
    let mut out = draft.clone();
    let mut main: Option<&Entry> = None;
    for (old, entry) in draft.workload.ops.iter().zip(&mut out.workload.ops) {
        let Op::Fft { kind: Fft::C2c, n, batch } = old.op else { continue };
        // A transform of complex numbers reads as much as it writes; of real ones, half of that.
        if old.read_bytes == 0
            || old.read_bytes.saturating_mul(2) != old.written_bytes
            || !old.name.ends_with("fft.fft")
        {
            continue;
        }
        entry.op = Op::Fft { kind: Fft::R2c, n, batch };
        entry.name = format!("{}rfft", old.name.trim_end_matches("fft"));
        entry.written_bytes = old.written_bytes / 2;
        entry.cpu_ns = ctx.cpu_ns_after([old].into_iter(), entry);
        if main.is_none_or(|m| old.cpu_ns > m.cpu_ns) {
            main = Some(old);
        }
    }
    let site = draft.workload.sites.get(main?.site as usize)?.clone();
    Some(Change {
        draft: out,
        title: format!("The real transform at {}", site.label()),
        why: "the input is real, so half of the spectrum repeats the other half".to_owned(),
        ready: ready(&site.text),
        site: Some(site),
        patch: None,
        risk: Some("the spectrum then has n/2 + 1 columns; go back with irfft"),
    })
}

/// The line with the real transform, where the transform is all that it does: `s = np.fft.fft(x)`.
fn ready(text: &str) -> Option<String> {
    let (target, operator, value) = assignment(text)?;
    let (path, argument) = value.split_once("fft.fft(")?;
    let argument = argument.strip_suffix(')')?;
    let alone = operator.is_empty() && path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    (alone && !argument.contains(['(', ')'])).then(|| format!("{target} = {path}fft.rfft({argument})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_that_does_nothing_else_is_rewritten() {
        assert_eq!(ready("s = np.fft.fft(x, axis=1)").as_deref(), Some("s = np.fft.rfft(x, axis=1)"));
        for text in ["s = np.fft.fft(x) * h", "s = abs(np.fft.fft(x))", "s = np.fft.fft(f(x))", "np.fft.fft(x)", ""] {
            assert_eq!(ready(text), None, "{text}");
        }
    }
}
