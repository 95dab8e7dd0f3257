//! What lies between host and GPU: launches, start-up, copies, waits.

use super::account::Account;
use super::order::{by_round, main_loop, ping_pong};
use crate::estimate::Reason;
use crate::report::words;
use crate::timeline::{Task, finish};
use crate::workload::Op;

/// Handing operations over takes the time.
pub(super) fn launch(account: &Account<'_>) -> Option<Reason> {
    let path: f64 = (0..account.path.len()).map(|i| account.launch(i)).sum();
    let plan = &account.out.plan;
    if path <= 0.0 || plan.launches == 0 {
        return None;
    }
    let sums = &plan.sums;
    let asking = || account.entries().filter(|(i, ..)| account.asks(*i));
    let asked: u64 = asking().map(|(_, entry, task)| u64::from(task.launches).saturating_mul(entry.count)).sum();
    let launches = plan.launches.saturating_sub(asked);
    if launches == 0 {
        return None;
    }
    let asking: f64 = asking().map(|(_, entry, task)| task.dispatch * entry.count as f64).sum();
    let per = (sums.dispatch - asking) / launches as f64;
    let mut reason = Reason::new(
        "launch-bound",
        Some(account.share(path)),
        format!(
            "{} launches of {} of host time each; the kernels themselves take {}.",
            words::count(launches),
            words::seconds(per),
            words::seconds(sums.device)
        ),
        if account.loops() {
            "Larger arrays in fewer calls, fused element-wise chains, or one CUDA graph for steps that repeat."
        } else {
            "Larger arrays in fewer calls, or fused element-wise chains."
        }
        .to_owned(),
    )
    .with("launches", launches as f64, "1", words::count(launches))
    .with("per_launch", per, "s", words::seconds(per))
    .with("device", sums.device, "s", words::seconds(sums.device));
    if let Some(small) = super::frames::Small::of(account) {
        reason.cause = small.text();
        reason.remedy = super::frames::Small::hint();
    }
    let weight = |i: usize| account.launch(i);
    reason = by_round(reason, account, &weight);
    if let Some(main) = main_loop(account.q.workload, &weight) {
        let body = main.body.iter().filter(|(i, _)| !account.asks(**i as usize));
        let each: f64 = body.map(|(&i, &n)| f64::from(plan.tasks[i as usize].launches) * n as f64).sum();
        reason = reason.with("launches_per_round", each, "1", words::count(each as u64));
    }
    reason.also = account.lines(&weight, 5);
    Some(reason)
}

/// What is paid once takes the time.
pub(super) fn start_up(account: &Account<'_>) -> Option<Reason> {
    let adds = account.q.startup.p50;
    if account.q.exclude_startup || adds <= 0.0 {
        return None;
    }
    let warm = warm_speedup(account);
    let reason = Reason::new(
        "start-up-bound",
        Some(account.share(adds)),
        format!(
            "Import, context and first use of kernels take {} (assumed), once in a process{}.",
            words::seconds(adds),
            words::warm(warm)
        ),
        "Do more work in one process: a server, a notebook, many inputs in one run.".to_owned(),
    );
    let reason = reason.with("start_up", adds, "s", words::seconds(adds));
    Some(if warm > 0.0 { reason.with("warm_speedup", warm, "1", words::times(warm)) } else { reason })
}

/// Baseline ÷ GPU time, start-up left out on both sides; 0 where too little is understood to say.
pub(super) fn warm_speedup(account: &Account<'_>) -> f64 {
    if !account.q.coverage.is_enough() {
        return 0.0;
    }
    let cpu = account.q.cpu.time.p50 - account.q.host.startup;
    let gpu = account.out.parts.total() - account.out.parts.startup;
    cpu / gpu.max(f64::MIN_POSITIVE)
}

/// Copies take the time, values read one by one left to [`waiting`].
pub(super) fn transfer(account: &Account<'_>) -> Option<Reason> {
    let path = |i: usize| {
        let forced = account.host[i] == super::account::HostKind::NoCounterpart;
        if account.asks(i) || forced { 0.0 } else { account.path[i].transfer }
    };
    let whole: f64 = (0..account.path.len()).map(path).sum();
    if whole <= 0.0 {
        return None;
    }
    let plan = &account.out.plan;
    let copies = plan.h2d_copies + plan.d2h_copies;
    let read: f64 = account.kernels().map(|(_, entry, _)| entry.read_bytes as f64 * entry.count as f64).sum();
    let uses = read / plan.h2d_bytes;
    let mut cause = format!(
        "{} go to the GPU and {} back, in {} copies",
        words::bytes(plan.h2d_bytes),
        words::bytes(plan.d2h_bytes),
        words::count(libm::round(copies) as u64)
    );
    let pairs = ping_pong(account);
    let back_and_forth = pairs.first().filter(|pair| pair.rounds >= 2).copied();
    let mut also = account.lines(&path, 5);
    if let Some(pair) = back_and_forth
        && let (Some(down), Some(up)) = (account.line(pair.down as usize), account.line(pair.up as usize))
    {
        let n = words::count(pair.rounds);
        cause += &if down == up {
            format!("; data goes to the host and back at {down}, {n} times")
        } else {
            format!("; data goes to the host at {down} and back at {up}, {n} times")
        };
        also.retain(|line| *line != down && *line != up);
        also.splice(0..0, if down == up { vec![down] } else { vec![down, up] });
        also.truncate(5);
    } else if uses.is_finite() && uses > 0.0 && uses < 4.0 {
        cause += &format!("; each byte that arrives is read {} there", words::times(uses));
    }
    let mut reason = Reason::new(
        "transfer-bound",
        Some(account.share(whole)),
        cause + ".",
        if account.loops() {
            "Keep arrays on the GPU from first to last use, move copies out of loops, use pinned memory."
        } else {
            "Keep arrays on the GPU from first to last use, use pinned memory."
        }
        .to_owned(),
    )
    .with("to_gpu", plan.h2d_bytes, "B", words::bytes(plan.h2d_bytes))
    .with("back", plan.d2h_bytes, "B", words::bytes(plan.d2h_bytes))
    .with("copies", copies, "1", words::count(libm::round(copies) as u64))
    .with("per_byte", uses, "1", words::times(uses));
    if let Some(pair) = back_and_forth {
        reason = reason.with("ping_pong", pair.rounds as f64, "1", words::count(pair.rounds));
    }
    reason = by_round(reason, account, &path);
    reason.also = also;
    Some(reason)
}

/// The host waits for values of the GPU: what the program would take if it did not, simulated again.
pub(super) fn waiting(account: &Account<'_>) -> Option<Reason> {
    let plan = &account.out.plan;
    let mut waits = 0.0;
    let mut tasks: Vec<Task> = plan.tasks.clone();
    let mut weight = vec![0.0; tasks.len()];
    for (i, entry, task) in account.entries() {
        let stops = task.wait || task.wait_stream;
        let value = account.reads_a_value(entry);
        if value || account.asks(i) {
            (tasks[i].download, tasks[i].dispatch, tasks[i].device) = (0.0, 0.0, 0.0);
        }
        if !(stops || value) || matches!(entry.op, Op::Transfer { .. }) {
            continue;
        }
        (tasks[i].wait, tasks[i].wait_stream) = (false, false);
        waits += entry.count as f64;
        weight[i] = entry.count as f64;
    }
    if waits <= 0.0 {
        return None;
    }
    let parts = &account.out.parts;
    let with = parts.total() - parts.startup;
    let free = finish(&tasks, account.q.order, account.q.port.machine());
    let without = (free.total() - account.q.port.host_startup().min(free.host)).min(with);
    let each = (with - without) / waits;
    // The part of the path that is asking: what it uncovers has reasons of its own.
    let asking: f64 = (0..account.path.len()).map(|i| account.asking(i)).sum();
    let mut reason = Reason::new(
        "synchronisation-bound",
        Some(account.share(asking)),
        format!(
            "The host stops {} for a value of the GPU: {} each with the launch that makes it and what it uncovers.",
            times(waits),
            words::seconds(each)
        ),
        "Compute on whole arrays instead of single values, keep values on the GPU, or collect them and read once at the end."
            .to_owned(),
    )
    .with("waits", waits, "1", words::count(waits as u64))
    .with("without", without, "s", words::seconds(without));
    if let Some(main) = main_loop(account.q.workload, &|i| weight[i]) {
        reason = reason.with("rounds", main.rounds as f64, "1", words::count(main.rounds));
    }
    reason.also = account.lines(&|i| weight.get(i).copied().unwrap_or(0.0), 5);
    Some(reason)
}

fn times(n: f64) -> String {
    if n <= 1.0 { "once".to_owned() } else { format!("{} times", words::count(n as u64)) }
}
