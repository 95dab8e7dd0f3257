//! Break-even in what the user can change: the size of the problem, the rounds of the main loop, the calls that a copied
//! array is used for. Each is found by estimating the changed program again.

mod batch;
mod resize;
mod rounds;
mod runs;
mod size;

pub use batch::{Batch, batch_of};
pub use resize::{reshape, resized, wall_after};
pub use rounds::{MainLoop, main_loop, with_rounds};
pub use runs::{Growth, LineGrowth, RunPoint, RunsCrossing, check as check_sizes, crossing_of_runs};
pub use size::{Size, problem_size};

use crate::estimate::baseline::{self, CpuTime};
use crate::estimate::changed::less_sure;
use crate::estimate::gpu::{Outcome, Question, outcome};
use crate::estimate::hosttime::{HostTime, host_time};
use crate::estimate::plan::{Policy, Port};
use crate::estimate::program::order_of;
use crate::hardware::Device;
use crate::interval::Interval;
use crate::quantity::significant;
use crate::report::words;
use crate::timeline::Compact;
use crate::workload::Workload;
use serde::{Deserialize, Serialize};

/// Powers of two of the size that are estimated.
const DOUBLINGS: std::ops::RangeInclusive<i32> = -8..=6;

/// Both sides take as long where ln speedup is less than this.
const CLOSE: f64 = 0.005;

/// A round of the CPU's has to take so many times one of the GPU's for more of them to decide anything.
const TOLD_APART: f64 = 1.02;

/// Nobody is told of more rounds than so many times those that ran.
const FAR: f64 = 1e4;

/// Where the GPU starts to win as the problem grows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeCrossing {
    /// The dimension that grows, as recorded.
    pub now: u64,
    /// The crossing; p10 is where it is if the GPU is as fast as it may be. `None`: it does not cross between 1/256 and 64
    /// times the recorded size.
    pub at: Option<Interval>,
    /// The array that it is read from, `1022×1022`.
    pub shape_now: String,
    /// The same at the crossing.
    pub shape_at: Option<String>,
    /// Times of both sides by size, smallest first.
    pub curve: Vec<SizePoint>,
}

/// One size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizePoint {
    /// The dimension.
    pub size: u64,
    /// The CPU's time.
    pub cpu_s: Interval,
    /// The GPU's; `None` where it does not fit.
    pub gpu_s: Option<Interval>,
}

/// Where the GPU starts to win as the main loop makes more rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundsCrossing {
    /// A line of the loop, `heat.py:11`.
    pub site: String,
    /// As recorded.
    pub now: u64,
    /// From so many on; `None` where more rounds do not help.
    pub at: Option<u64>,
}

/// How many calls must use a copied array for the GPU to win.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallsPerUpload {
    /// At least so many.
    pub at_least: u64,
}

/// What of it is known for one program on one GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crossings {
    /// See [`SizeCrossing`].
    pub size: Option<SizeCrossing>,
    /// See [`RoundsCrossing`].
    pub rounds: Option<RoundsCrossing>,
    /// See [`CallsPerUpload`].
    pub calls: Option<CallsPerUpload>,
    /// FLOP at the crossing ÷ FLOP now.
    pub work: Option<f64>,
    /// The smallest array tried, where the GPU wins at each size: `a batch of 1`.
    pub always: Option<String>,
}

/// All crossings of `q` on `device`, for which `out` is the outcome; `cpu` is the baseline's model.
pub fn crossings(q: &Question, out: &Outcome, device: &Device, cpu: &Device) -> Crossings {
    if q.workload.op_count() == 0 || out.plan.launches == 0 {
        return Crossings::default();
    }
    let case = Case { q, device, cpu };
    Crossings { rounds: case.rounds(out), calls: calls_per_upload(q, out), ..case.size().unwrap_or_default() }
}

struct Case<'a> {
    q: &'a Question<'a>,
    device: &'a Device,
    cpu: &'a Device,
}

/// Both sides of a changed program.
struct Both {
    cpu: Interval,
    gpu: Option<Interval>,
    speedup: Option<Interval>,
}

impl Case<'_> {
    /// The changed program on both sides. `order` where it changed, too.
    fn both(&self, workload: &Workload, order: Option<&Compact>) -> Both {
        let q = self.q;
        let policy = q.port.policy();
        let host = HostTime { paces: q.host.paces.clone(), ..host_time(workload) };
        let cpu = if q.cpu.recorded {
            baseline::measured(workload, &host, policy)
        } else {
            baseline::modelled(workload, &host, self.cpu, policy)
        };
        let cpu = CpuTime { time: less_sure(cpu.time, cpu.ops.p50.max(1e-12) / q.cpu.ops.p50.max(1e-12)), ..cpu };
        let port = Port::new(workload, &host, q.port.profile(), q.host_speed, policy);
        let order = order.unwrap_or(q.order);
        let changed = Question { workload, order, host: &host, cpu: &cpu, port: &port, ..*q };
        let out = outcome(&changed, self.device);
        Both { cpu: changed.cpu_time(), gpu: out.time, speedup: out.speedup }
    }

    /// The crossing of sizes, and what else it tells.
    fn size(&self) -> Option<Crossings> {
        let size = problem_size(self.q.workload)?;
        let resized = |scale: f64| resized(self.q.workload, &size, scale, self.cpu);
        let at = |scale: f64| self.both(&resized(scale), None);
        let value = |scale: f64| ((size.value as f64 * scale).round() as u64).max(1);
        let scales = DOUBLINGS.map(|doublings| libm::exp2(f64::from(doublings)));
        let least = if size.batch.is_some() { 1.0 } else { 2.0 };
        let scales = scales.filter(|scale| size.value as f64 * scale >= least);
        let points: Vec<(f64, Both)> = scales.map(|scale| (scale, at(scale))).collect();
        let speedups = |pick: fn(&Interval) -> f64| -> Vec<(f64, f64)> {
            points.iter().filter_map(|(scale, both)| both.speedup.as_ref().map(|s| (*scale, pick(s)))).collect()
        };
        let middle = first_lasting_win(&speedups(|s| s.p50));
        let exact = middle.map(|scale| self.refined(scale, &at).unwrap_or(scale));
        let now = size.value as f64;
        let interval = exact.map(|exact| {
            let (small, large) = points.first().zip(points.last()).map_or((exact, exact), |(a, b)| (a.0, b.0));
            let fast = first_lasting_win(&speedups(|s| s.p90)).unwrap_or(small).min(exact);
            let slow = first_lasting_win(&speedups(|s| s.p10)).unwrap_or(large).max(exact);
            Interval { p10: now * fast, p50: now * exact, p90: now * slow }
        });
        let flop = self.q.workload.flop().get();
        let work = exact.filter(|_| flop > 0.0).map(|scale| resized(scale).flop().get() / flop);
        let wins = speedups(|s| s.p50).iter().all(|(_, speedup)| *speedup > 1.0);
        let always = points.first().filter(|_| wins).map(|(least, _)| shape_at(&size, *least));
        let curve =
            points.into_iter().map(|(scale, both)| SizePoint { size: value(scale), cpu_s: both.cpu, gpu_s: both.gpu });
        let crossing = SizeCrossing {
            now: size.value,
            at: interval,
            shape_now: shape_at(&size, 1.0),
            shape_at: exact.map(|scale| shape_at(&size, scale)),
            curve: curve.collect(),
        };
        Some(Crossings { size: Some(crossing), work, always, ..Crossings::default() })
    }

    /// The crossing near `scale`, closer than between doublings. Where one side jumps (an array that no longer fits a
    /// cache), it is where the GPU wins from.
    fn refined(&self, scale: f64, at: &impl Fn(f64) -> Both) -> Option<f64> {
        let ln_speedup = |scale: f64| at(scale).speedup.map(|s| ln(s.p50));
        let (mut low, mut high) = (scale / std::f64::consts::SQRT_2, scale * std::f64::consts::SQRT_2);
        let (mut below, mut above) = (ln_speedup(low)?, ln_speedup(high)?);
        if below > 0.0 || above < 0.0 {
            return None;
        }
        for step in 0..8 {
            let secant = (-below / (above - below).max(f64::MIN_POSITIVE)).clamp(0.05, 0.95);
            let middle = low * libm::pow(high / low, if step % 2 == 0 { secant } else { 0.5 });
            let value = ln_speedup(middle)?;
            if value.abs() < CLOSE {
                return Some(middle);
            }
            if value < 0.0 { (low, below) = (middle, value) } else { (high, above) = (middle, value) }
        }
        Some(high)
    }

    fn rounds(&self, out: &Outcome) -> Option<RoundsCrossing> {
        let found = main_loop(self.q.workload)?;
        let (half, order) = with_rounds(self.q.workload, &found, found.rounds / 2);
        let half = self.both(&half, Some(&order_of(&order, self.q.workload)));
        let (cpu, gpu) = (self.q.cpu_time().p50, out.time?.p50);
        let half_rounds = (found.rounds - found.rounds / 2) as f64;
        let (cpu_round, gpu_round) = ((cpu - half.cpu.p50) / half_rounds, (gpu - half.gpu?.p50) / half_rounds);
        let now = found.rounds as f64;
        // Both are lines: where do they meet?
        let (cpu_fixed, gpu_fixed) = (cpu - cpu_round * now, gpu - gpu_round * now);
        let further = (gpu_fixed - cpu_fixed) / (cpu_round - gpu_round) - now;
        let meet = (found.total as f64 + further * found.within as f64).ceil();
        let helps = cpu_round > gpu_round * TOLD_APART && meet < found.total as f64 * FAR;
        let at = helps.then(|| meet.max(1.0) as u64);
        Some(RoundsCrossing { site: found.site, now: found.total, at })
    }
}

/// With copies at each call the GPU loses, with arrays that stay it wins: from how many calls a copy on?
fn calls_per_upload(q: &Question, out: &Outcome) -> Option<CallsPerUpload> {
    let sums = &out.plan.sums;
    let time = out.time?.p50;
    let cpu = q.cpu_time().p50;
    if q.port.policy() != Policy::Resident || time >= cpu || out.naive <= cpu {
        return None;
    }
    let without_copies = out.naive - sums.naive_copies;
    let calls = (sums.naive_copies / (cpu - without_copies)).ceil();
    (cpu > without_copies && calls.is_finite() && calls < 1e12)
        .then(|| CallsPerUpload { at_least: calls.max(2.0) as u64 })
}

/// The smallest scale from which on the speedup stays above 1, interpolated on logarithms; `None` where it loses at the
/// end, or wins from the start.
fn first_lasting_win(points: &[(f64, f64)]) -> Option<f64> {
    let last_loss = points.iter().rposition(|(_, speedup)| *speedup < 1.0)?;
    let (&(low, below), &(high, above)) = points.get(last_loss).zip(points.get(last_loss + 1))?;
    let (below, above) = (ln(below), ln(above));
    let share = if above > below { -below / (above - below) } else { 1.0 };
    Some(low * libm::pow(high / low, share))
}

/// Nothing at all on one side is a long way, not an endless one.
fn ln(speedup: f64) -> f64 {
    libm::log(speedup).clamp(-700.0, 700.0)
}

/// The array that a size is read from, so many times as large: `1022×1022`.
pub fn shape_at(size: &Size, scale: f64) -> String {
    let value = ((size.value as f64 * scale).round() as u64).max(1);
    if let Some(batch) = &size.batch {
        let value = words::count(value);
        return match batch.samples {
            None => format!("a batch of {value}"),
            Some(samples) if scale == 1.0 => format!("{value} rows at once, a batch of {}", words::count(samples)),
            Some(_) => format!("{value} rows at once"),
        };
    }
    if size.rows {
        let value = if scale == 1.0 { value } else { significant(value as f64, 2) as u64 };
        return format!("{} rows", words::count(value));
    }
    let dims = size.shape.iter().map(|dim| {
        let grows = size::shape_power(&[*dim], size.value) > 0;
        let dim = if grows { ((*dim as f64 * scale).round() as u64).max(1) } else { *dim };
        dim.to_string()
    });
    match size.shape.len() {
        1 => format!("{} elements", words::count(value)),
        _ => dims.collect::<Vec<_>>().join("×"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Estimate, program};
    use crate::request::{Options, Request};
    use crate::workload::samples;

    fn request(exclude_startup: bool) -> Request {
        let options = Options { gpu: vec!["l4".to_owned()], exclude_startup, ..Options::default() };
        Request { today: "2026-11-21".to_owned(), options, ..Request::default() }
    }

    fn answer(workload: &Workload, request: &Request) -> Estimate {
        program::estimate(workload, request).expect("it is estimated")
    }

    #[test]
    fn at_the_crossing_of_sizes_both_take_as_long() {
        let heat = samples::heat();
        let request = request(true);
        let even = answer(&heat, &request).estimates.remove(0).break_even.expect("there is one");
        let size = even.size.expect("a grid");
        assert_eq!((size.now, size.shape_now.as_str()), (1022, "1022×1022"));
        let at = size.at.expect("it crosses");
        assert!(at.p10 <= at.p50 && at.p50 <= at.p90 && at.p50 < 1022.0, "{at:?}");
        let found = problem_size(&heat).expect("a grid");
        let cpu = program::ask(&heat, &request, |_, choice| choice.cpu.device.clone()).expect("one is chosen");
        let speedup = |size: f64| {
            let there = resized(&heat, &found, size / 1022.0, &cpu);
            answer(&there, &request).estimates[0].speedup.expect("it fits").p50
        };
        // The CPU's time may jump where its arrays leave a cache.
        let (below, above) = (speedup(0.97 * at.p50), speedup(1.03 * at.p50));
        assert!(below < 1.05 && above > 0.95, "{below} to {above} at {at:?}");
    }

    #[test]
    fn who_loses_now_wins_at_a_larger_size() {
        let now = |cpu: u64| {
            let mut heat = samples::heat();
            let more = |op: &crate::workload::Entry| op.cpu_ns * cpu / 100 - op.cpu_ns.min(op.cpu_ns * cpu / 100);
            heat.program.wall_ns += heat.ops.iter().map(more).sum::<u64>();
            heat.ops.iter_mut().for_each(|op| op.cpu_ns = op.cpu_ns * cpu / 100);
            let g = answer(&heat, &request(false)).estimates.remove(0);
            let at = g.break_even.and_then(|even| even.size).and_then(|size| size.at);
            (g.speedup.expect("it fits").p50, at)
        };
        let mut seen = [false; 2];
        for cpu in (20..400).step_by(12) {
            let (speedup, at) = now(cpu);
            let Some(at) = at else { continue };
            seen[usize::from(speedup > 1.0)] = true;
            // Sizes are whole, and both sides within the error of the search.
            let close = (speedup - 1.0).abs() < 0.01;
            assert!(close || (speedup < 1.0) == (at.p50 > 1022.0), "{cpu}: {speedup} at {at:?}");
        }
        assert_eq!(seen, [true; 2]);
    }

    #[test]
    fn a_side_that_takes_no_time_crosses_somewhere() {
        let at = first_lasting_win(&[(1.0, 0.0), (2.0, f64::INFINITY)]).expect("between");
        assert!((at - core::f64::consts::SQRT_2).abs() < 1e-12, "{at}");
        assert_eq!(first_lasting_win(&[(1.0, 0.5), (2.0, f64::INFINITY)]).map(|at| at < 1.01), Some(true));
    }

    #[test]
    fn other_programs_and_other_runs_move_no_crossing() {
        let heat = samples::heat();
        let evens = |w: &Workload| {
            let even = answer(w, &request(true)).estimates.remove(0).break_even.expect("there is one");
            (even.rounds.expect("a loop").at.expect("it pays"), even.size.expect("a grid").at.expect("it crosses").p50)
        };
        // Three of four seconds were other programs'.
        let mut busy = heat.clone();
        busy.program.stolen_ns = Some(3 * busy.program.wall_ns);
        busy.program.wall_ns *= 4;
        busy.program.startup_ns *= 4;
        busy.ops.iter_mut().for_each(|entry| (entry.cpu_ns, entry.gap_ns) = (4 * entry.cpu_ns, 4 * entry.gap_ns));
        let mut repeated = heat.clone();
        repeated.program.repeat_wall_ns = vec![heat.program.wall_ns; 2];
        let (rounds, size) = evens(&heat);
        for other in [&busy, &repeated] {
            let (others, at) = evens(other);
            assert!(others.abs_diff(rounds) <= 1 && (at / size - 1.0).abs() < 0.05, "{others} {rounds}, {at} {size}");
        }
    }

    #[test]
    fn more_rounds_pay_for_start_up() {
        let heat = samples::heat();
        let request = request(false);
        let even = answer(&heat, &request).estimates.remove(0).break_even;
        let rounds = even.and_then(|even| even.rounds).expect("the loop of heat.py");
        assert_eq!(rounds.now, 200);
        let at = rounds.at.expect("the GPU's rounds are faster");
        let found = main_loop(&heat).expect("the loop");
        let speedup = |rounds: u64| {
            let (mut changed, order) = with_rounds(&heat, &found, rounds);
            changed.order = order;
            answer(&changed, &request).estimates[0].speedup.expect("it fits").p50
        };
        assert!(speedup(at + 2) > 1.0, "{}", speedup(at + 2));
        assert!(at < 3 || speedup(at - 2) < 1.0, "{}", speedup(at - 2));
    }

    #[test]
    fn rounds_of_the_hosts_code_decide_nothing() {
        let mut heat = samples::heat();
        let gap = 50_000_000_000;
        let looped = heat.ops.iter_mut().filter(|op| op.count >= 200);
        heat.program.wall_ns += looped.map(|op| op.gap_ns += gap).count() as u64 * gap;
        let even = answer(&heat, &request(false)).estimates.remove(0).break_even.expect("it is told");
        assert_eq!(even.rounds.map(|rounds| (rounds.now, rounds.at)), Some((200, None)));
    }

    #[test]
    fn what_wins_at_each_size_says_so() {
        let mut heat = samples::heat();
        heat.program.wall_ns *= 1_000_000;
        heat.ops.iter_mut().for_each(|op| op.cpu_ns *= 1_000_000);
        let even = answer(&heat, &request(true)).estimates.remove(0).break_even.expect("it is told");
        assert_eq!((even.scale, even.describes.as_str()), (None, "always: from 4×4 on (yours: 1022×1022)"));
    }

    #[test]
    fn wins_that_last() {
        assert_eq!(first_lasting_win(&[(1.0, 2.0), (2.0, 0.5)]), None);
        assert_eq!(first_lasting_win(&[(1.0, 2.0), (2.0, 3.0)]), None);
        assert_eq!(first_lasting_win(&[]), None);
        let found = first_lasting_win(&[(1.0, 0.5), (2.0, 2.0), (4.0, 0.5), (8.0, 2.0), (16.0, 4.0)]).unwrap();
        assert!((found - 4.0 * std::f64::consts::SQRT_2).abs() < 1e-9);
    }
}
