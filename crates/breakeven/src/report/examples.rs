//! Estimates made by hand, for the tests of the renderers.

use crate::estimate::{
    Advice, Baseline, BreakEven, Breakdown, Estimate, Flip, Formula, FormulaInput, GpuEstimate, Note, Price, Reason,
    SCHEMA, SiteEstimate, Summary, Timer, Verdict, WorkloadSummary,
};
use crate::interval::{Basis, Interval};
use crate::kernel::Bound;

fn around(p50: f64, by: f64) -> Option<Interval> {
    Some(Interval { p10: p50 / by, p50, p90: p50 * by })
}

fn gpu(id: &str, name: &str, time_s: f64, speedup: f64, verdict: Verdict) -> GpuEstimate {
    GpuEstimate {
        gpu: id.to_owned(),
        name: name.to_owned(),
        time_s: around(time_s, 1.25),
        speedup: around(speedup, 1.25),
        breakdown_s: Some(Breakdown {
            host: 0.1 * time_s,
            launch: 0.58 * time_s,
            compute: 0.02 * time_s,
            memory: 0.27 * time_s,
            transfer: 0.03 * time_s,
            ..Breakdown::default()
        }),
        policy: "resident".to_owned(),
        naive_time_s: Some(8.0 * time_s),
        effective_flop_per_s: Some(1e12),
        bound_by: Some(Bound::Launch),
        verdict,
        basis: Basis::Modelled,
        fits: Some(true),
        peak_bytes: Some(96e6),
        memory_bytes: None,
        cost_usd: around(0.8 / 3600.0 * time_s, 1.25),
        price: Some(Price {
            provider: "gcp".to_owned(),
            instance: "g2-standard-4".to_owned(),
            usd_per_h: 0.8,
            instance_usd_per_h: None,
            date: "2026-11-01".to_owned(),
            class: Some("cloud".to_owned()),
            lone: false,
            least_usd: Some(0.8 / 60.0),
        }),
        energy_wh: around(0.02 * time_s, 1.25),
        co2_g: None,
        break_even: Some(BreakEven::of_work(Some(0.09), "310×310 grid points (yours: 1024×1024)")),
        counted: true,
        compiled: None,
    }
}

/// The calculator's worked example.
pub(super) fn numbers() -> Estimate {
    let input = |name: &str, value: f64, unit: &str, text: &str, basis, typical: Option<&str>| FormulaInput {
        name: name.to_owned(),
        value,
        unit: unit.to_owned(),
        text: text.to_owned(),
        basis,
        typical: typical.map(str::to_owned),
    };
    let row = GpuEstimate {
        time_s: Some(Interval::exact(1.3)),
        speedup: Some(Interval::exact(25.0 / 1.3)),
        breakdown_s: Some(Breakdown { compute: 0.8, transfer: 0.03125, startup: 0.46875, ..Breakdown::default() }),
        naive_time_s: None,
        bound_by: Some(Bound::Compute),
        basis: Basis::Given,
        cost_usd: Some(Interval::exact(0.000_09)),
        energy_wh: Some(Interval::exact(0.1156)),
        break_even: Some(BreakEven::of_work(Some(0.020_66), "206.6 GFLOP (yours: 10 TFLOP)")),
        ..gpu("rtx-3080", "RTX 3080", 1.3, 19.23, Verdict::Gpu)
    };
    Estimate {
        schema: SCHEMA.to_owned(),
        workload: WorkloadSummary {
            name: "numbers".to_owned(),
            flop: Some(1e13),
            h2d_bytes: Some(1e9),
            d2h_bytes: Some(0.0),
            coverage: 1.0,
            ..WorkloadSummary::default()
        },
        options: serde_json::json!({}),
        summary: Summary {
            verdict: Verdict::Gpu,
            wins_on: 1,
            of: 1,
            best_gpu: Some("rtx-3080".to_owned()),
            shown_gpu: Some("rtx-3080".to_owned()),
            sentence: String::new(),
        },
        baseline: Baseline {
            device: "400 GFLOP/s".to_owned(),
            basis: Basis::Given,
            time_s: Some(Interval::exact(25.0)),
            startup_s: None,
            cost_usd: None,
            energy_wh: None,
            co2_g: None,
            price: None,
        },
        sites: Vec::new(),
        estimates: vec![row],
        formula: Some(Formula {
            time_s: Interval::exact(1.3),
            speedup: Some(Interval::exact(25.0 / 1.3)),
            cost_usd: Some(Interval::exact(0.000_09)),
            energy_wh: Some(Interval::exact(0.1156)),
            inputs: vec![
                input("flops", 1e13, "FLOP", "10 TFLOP", Basis::Given, None),
                input("data", 1e9, "B", "1 GB", Basis::Given, None),
                input("link", 32e9, "B/s", "32 GB/s", Basis::Given, Some("8–64 GB/s")),
                input("utilization", 1.0, "1", "100 %", Basis::Given, Some("0.05–0.80")),
                input("workload_factor", 1.0, "1", "1", Basis::Assumed, None),
            ],
            curve: Vec::new(),
            roofline: None,
            differs_because: Some(
                "You assumed 12.5 TFLOP/s; fp32 array work on this card reaches 3–9 TFLOP/s.".to_owned(),
            ),
        }),
        footprint: None,
        model: None,
        reasons: Vec::new(),
        timers: Vec::new(),
        robustness: Vec::new(),
        timeline: None,
        advice: Vec::new(),
        not_understood: Vec::new(),
        advice_together: Vec::new(),
        several: None,
        notes: Vec::new(),
        policy_failed: None,
    }
    .with_sentence()
}

/// The same with work too small to pay.
pub(super) fn cpu_wins() -> Estimate {
    let mut e = numbers();
    let g = &mut e.estimates[0];
    g.time_s = Some(Interval::exact(0.508));
    g.speedup = Some(Interval::exact(0.25 / 0.508));
    g.verdict = Verdict::Cpu;
    g.breakdown_s = Some(Breakdown { compute: 0.008, startup: 0.5, ..Breakdown::default() });
    g.break_even = Some(BreakEven::of_work(Some(2.066), "206.6 GFLOP (yours: 100 GFLOP)"));
    e.baseline.time_s = Some(Interval::exact(0.25));
    e.summary.verdict = Verdict::Cpu;
    e.summary.best_gpu = None;
    e.with_sentence()
}

/// A recorded program on many GPUs.
pub(super) fn program() -> Estimate {
    let site = |line, text: &str, share: f64| SiteEstimate {
        file: "/home/ada/heat.py".to_owned(),
        line,
        text: text.to_owned(),
        via: None,
        module: None,
        time_s: Interval::exact(8.6 * share),
        share,
        bound_by: Some(Bound::Launch),
        verdict: Verdict::Gpu,
        gpu_time_s: around(share, 1.3),
    };
    let mut estimates = vec![
        gpu("l4", "L4", 1.387, 6.2, Verdict::Gpu),
        gpu("h100-sxm", "H100 SXM", 0.9, 9.6, Verdict::Gpu),
        GpuEstimate {
            time_s: None,
            speedup: None,
            breakdown_s: None,
            bound_by: None,
            cost_usd: None,
            energy_wh: None,
            fits: Some(false),
            price: None,
            ..gpu("gtx-1050", "GTX 1050", 1.0, 1.0, Verdict::Cpu)
        },
        gpu("k80", "K80", 9.0, 0.95, Verdict::Either),
    ];
    for i in 0..8 {
        estimates.push(gpu(&format!("old-{i}"), &format!("Old {i}"), 20.0, 0.4, Verdict::Cpu));
    }
    Estimate {
        workload: WorkloadSummary {
            name: "heat.py".to_owned(),
            ops: 40_000,
            launches: 40_000,
            flop: Some(1.6e10),
            bytes: Some(6.4e11),
            h2d_bytes: Some(8.4e6),
            d2h_bytes: Some(8.4e6),
            peak_bytes: Some(25e6),
            coverage: 0.98,
            ..WorkloadSummary::default()
        },
        summary: Summary {
            verdict: Verdict::Gpu,
            wins_on: 2,
            of: 12,
            best_gpu: Some("l4".to_owned()),
            shown_gpu: Some("l4".to_owned()),
            sentence: String::new(),
        },
        baseline: Baseline {
            device: "AMD EPYC 7763".to_owned(),
            basis: Basis::Measured,
            time_s: around(8.6, 1.1),
            startup_s: None,
            cost_usd: around(0.0019, 1.1),
            energy_wh: around(0.35, 1.2),
            co2_g: None,
            price: None,
        },
        sites: vec![site(14, "u[1:-1, 1:-1] += k * lap", 0.71), site(12, "lap = u[2:] - 2 * u[1:-1] + u[:-2]", 0.26)],
        estimates,
        formula: None,
        reasons: vec![
            launch_bound(),
            Reason { site: Some("heat.py:14".to_owned()), share: Some(0.41), ..launch_bound() },
        ],
        timers: vec![Timer {
            from: "heat.py:10".to_owned(),
            to: "heat.py:17".to_owned(),
            clock: "time.perf_counter".to_owned(),
            times: 1,
            here_s: 8.1,
            gpu_s: around(0.004, 1.5),
            basis: Basis::Modelled,
            first_call_s: 0.3,
            work_s: Some(1.3),
            text: "heat.py:10–17 would show 4 ms (8.1 s here); first call +300 ms; the work takes 1.3 s: wait for the \
                   GPU before reading the clock"
                .to_owned(),
        }],
        robustness: vec![
            Flip {
                what: "error".to_owned(),
                text: "error: the GPU wins until its time is 6.2× what is estimated".to_owned(),
                from: Some(1.0),
                to: Some(6.2),
            },
            Flip { what: "gpu".to_owned(), text: "GPU: none of 12 turns it".to_owned(), from: Some(6.2), to: None },
        ],
        advice: vec![Advice {
            id: "fuse".to_owned(),
            title: "Fusing the 7 element-wise steps of heat.py:14".to_owned(),
            why: "seven launches do the work of one".to_owned(),
            site: Some("heat.py:14".to_owned()),
            speedup_after: Some(Interval { p10: 14.0, p50: 19.0, p90: 24.0 }),
            ..Advice::default()
        }],
        notes: vec![Note { code: "old-prices".to_owned(), text: "The newest price used is 45 days old.".to_owned() }],
        ..numbers()
    }
    .with_sentence()
}

fn launch_bound() -> Reason {
    Reason::new(
        "launch-bound",
        Some(0.58),
        "40 000 launches of 12 µs of host time each; the kernels themselves take 375 ms.".to_owned(),
        "Larger arrays in fewer calls, fused element-wise chains, or one CUDA graph for steps that repeat.".to_owned(),
    )
    .with("launches", 40_000.0, "1", "40 000".to_owned())
}

/// Names that try to colour the terminal, turn the line round, end the table, or fill the screen.
pub(super) fn hostile() -> Estimate {
    let mut e = program();
    e.estimates.truncate(1);
    e.estimates[0].name = "\u{1b}[2J<script>|L4\u{202e}".to_owned();
    e.sites.truncate(1);
    e.sites[0].file = "/tmp/\u{1b}]0;gone\u{7}.py".to_owned();
    e.sites[0].text = format!("x = `a|b`  # {}", "A".repeat(500));
    e.baseline.device = "CPU\r\nGPU wins on 99".to_owned();
    e.notes[0].text = "a\u{2028}b *bold* [link](http://x)".to_owned();
    e.advice.clear();
    e.reasons.truncate(1);
    e.reasons[0].cause = "|`\u{1b}[2J` <b>".to_owned();
    e.reasons[0].also = vec!["a_b*\u{202e}.py:3".to_owned()];
    e.timers.clear();
    e.robustness.clear();
    e.summary.of = 1;
    e.with_sentence()
}

impl Estimate {
    fn with_sentence(mut self) -> Self {
        self.summary.sentence = super::sentence(&self);
        self
    }
}
