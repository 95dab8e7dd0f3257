//! Text for a terminal: the answer and what decides it in 24 lines, or the whole report.

use super::sentence::{is_enough, nothing_to_run};
use super::terminal::Terminal;
use super::wrap::hanging;
use super::{brief, explain, held_back, remarks, rows, whole, words};
use crate::estimate::{Estimate, GpuEstimate, Verdict};

/// How a face wants its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// ANSI colours.
    pub color: bool,
    /// The formula with every input, its unit, basis and typical range.
    pub explain: bool,
    /// Only the first lines: the verdict, what holds it back, break-even.
    pub quiet: bool,
    /// The whole report instead of 24 lines.
    pub verbose: bool,
    /// Characters of a line; 80 unless given.
    pub width: Option<u16>,
}

/// Characters of a line where nobody knows how wide the terminal is.
const WIDTH: usize = 80;

/// The report, each line ended.
pub fn text(e: &Estimate, options: &TextOptions) -> String {
    let terminal = Terminal { width: options.width.map_or(WIDTH, usize::from), color: options.color };
    let mut lines = first_lines(e, &terminal);
    if options.verbose {
        lines.extend(whole::lines(e, &terminal, options.explain));
    } else if !options.quiet {
        lines.extend(brief::lines(e, &terminal, options.explain, lines.len()));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The verdict, what holds it back, break-even.
fn first_lines(e: &Estimate, terminal: &Terminal) -> Vec<String> {
    let verdict = hanging("", &words::printable(&e.summary.sentence, 400), terminal.width);
    let verdict = verdict.iter().map(|line| terminal.bold(line));
    let others = held_back(e).into_iter().chain(remarks::remarks(e));
    verdict.chain(others.flat_map(|line| hanging("", &line, terminal.width))).collect()
}

/// The GPU table of `top` rows, or as many as were asked for; all its columns, or those that fit.
pub(super) fn gpus(e: &Estimate, terminal: &Terminal, top: usize, whole: bool) -> Vec<String> {
    if e.baseline.time_s.is_none() && e.estimates.is_empty() {
        return Vec::new();
    }
    if nothing_to_run(e) && !whole {
        return terminal.table(&rows::gpus(e, 0).without(&rows::SPARE, terminal.width));
    }
    // Many times that nothing is known, or that no verdict rests on, say no more than one line.
    let all = e.estimates.len();
    let rests = |row: &GpuEstimate| is_enough(e) || row.verdict != Verdict::Unknown;
    let told = |row: &GpuEstimate| (row.time_s.is_some() && rests(row)) || row.fits == Some(false);
    let known = all <= top || rows::is_only_memory(e) || e.estimates.iter().any(told);
    let top = rows::top(e).unwrap_or(if known { top } else { 0 });
    let table = rows::gpus(e, top);
    let table = if whole {
        table
    } else {
        table.without(&rows::SPARE, terminal.width).cut("device", rows::LEAST, terminal.width)
    };
    let has_prices = table.cells().0.iter().any(|(_, header, _)| header.starts_with('$'));
    let mut lines = terminal.table(&table);
    if let Some(priced) = rows::priced(e, top).filter(|_| has_prices) {
        lines.insert(1, terminal.dim(&format!("  {priced}")));
    }
    let hidden = all.saturating_sub(top);
    if hidden > 0 {
        let word = if known { "more" } else { "GPUs unknown" };
        lines.push(terminal.dim(&format!("  … {hidden} {word}: --top {all}")));
    }
    lines
}

/// Said where `--explain` asks for what there is not.
const NO_FORMULA: &str = "no formula answers this: it is estimated op by op, and --verbose tells what that rests on; \
                          --flops, --peak or --utilization are for the formula";

/// The formula with its inputs, as a table or in a line each basis.
pub(super) fn formula(e: &Estimate, terminal: &Terminal, explain: bool) -> Vec<String> {
    let Some(formula) = e.formula.as_ref().filter(|_| explain || !rows::is_only_memory(e)) else {
        let lines = hanging("note: ", NO_FORMULA, terminal.width);
        return if explain { [String::new()].into_iter().chain(lines).collect() } else { Vec::new() };
    };
    let mut lines = vec![String::new()];
    if explain {
        lines.extend(explain::FORMULA.iter().flat_map(|line| hanging("  ", line, terminal.width)));
        lines.extend(terminal.table(&explain::inputs(formula).cut("typical", rows::LEAST, terminal.width)));
    } else {
        lines.extend(
            explain::echo(formula).iter().flat_map(|(basis, inputs)| terminal.marked(&format!("{basis}: "), inputs)),
        );
    }
    lines
}

/// The sketch of the timeline, where it was asked for.
pub(super) fn timeline(e: &Estimate) -> Vec<String> {
    let Some(sketch) = &e.timeline else { return Vec::new() };
    let on = words::printable(&sketch.gpu, 40);
    let mut lines = vec![String::new(), format!("on {on}, {} in all", words::seconds(sketch.span_s))];
    lines.extend(sketch.rows.iter().map(|row| {
        let bar: String = row.busy.iter().map(|busy| block(*busy)).collect();
        format!("  {:<11}  {bar}", row.name)
    }));
    lines
}

/// A share as a bar of that height; a little is never nothing.
fn block(share: f64) -> char {
    const BLOCKS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    BLOCKS[((share * 8.0).ceil() as usize).min(8)]
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;
    use crate::estimate::{Breakdown, Reason, Verdict};
    use crate::interval::Interval;

    fn plain(e: &Estimate) -> String {
        text(e, &TextOptions::default())
    }

    fn whole(e: &Estimate) -> String {
        text(e, &TextOptions { verbose: true, width: Some(120), ..TextOptions::default() })
    }

    #[test]
    fn one_gpu_from_numbers() {
        insta::assert_snapshot!(plain(&examples::numbers()), @"
        19× faster on RTX 3080: 1.3 s against 25 s on the CPU · $0.09 per 1 000 runs ·
        0.12 Wh
        Held back by arithmetic (61 %).
        Breaks even at 206.6 GFLOP (yours: 10 TFLOP), all else the same.
        Start-up is 469 ms of the GPU time; once warm it takes 831 ms.
        You assumed 12.5 TFLOP/s; fp32 array work on this card reaches 3–9 TFLOP/s.

          prices of 2026-11-01; one run alone is charged $0.013
          device            time, s  speedup  $/1 000 runs  bound by  basis  verdict
          CPU: 400 GFLOP/s       25  1×                  ?            given
          RTX 3080              1.3  19×              0.09  compute   given  gpu

        given: flops 10 TFLOP · data 1 GB · link 32 GB/s · utilization 100 %
        assumed: workload factor 1

        coverage: numbers as given; nothing was run · 10 TFLOP · 1 GB to the GPU
        more: --verbose
        ");
    }

    #[test]
    fn explained() {
        let options = TextOptions { explain: true, ..TextOptions::default() };
        insta::assert_snapshot!(text(&examples::numbers(), &options), @"
        19× faster on RTX 3080: 1.3 s against 25 s on the CPU · $0.09 per 1 000 runs ·
        0.12 Wh
        Held back by arithmetic (61 %).
        Breaks even at 206.6 GFLOP (yours: 10 TFLOP), all else the same.
        Start-up is 469 ms of the GPU time; once warm it takes 831 ms.
        You assumed 12.5 TFLOP/s; fp32 array work on this card reaches 3–9 TFLOP/s.

          prices of 2026-11-01; one run alone is charged $0.013
          device            time, s  speedup  $/1 000 runs  bound by  basis  verdict
          CPU: 400 GFLOP/s       25  1×                  ?            given
          RTX 3080              1.3  19×              0.09  compute   given  gpu

          effective rate = peak × utilisation × (1 − python overhead) × workload factor
          × precision factor
          GPU time = max(FLOP ÷ effective rate, bytes ÷ (bandwidth × 0.85)) + data ÷
          link + initialisation
          CPU time = FLOP ÷ CPU rate
          with a parallel fraction p < 1 the first term becomes (1 − p) × CPU time + p ×
          that term
          cost = hours × price; energy = watts × time × GPUs

          input               value  basis    typical
          flops            10 TFLOP  given
          data                 1 GB  given
          link              32 GB/s  given    8–64 GB/s
          utilization         100 %  given    0.05–0.80
          workload_factor         1  assumed

        coverage: numbers as given; nothing was run · 10 TFLOP · 1 GB to the GPU
        more: --verbose
        ");
    }

    #[test]
    fn the_cpu_is_faster() {
        insta::assert_snapshot!(plain(&examples::cpu_wins()), @"
        CPU is faster: 250 ms against 508 ms on RTX 3080 (2.0× slower on GPU) ·
        $0.09 per 1 000 runs · 0.12 Wh
        Held back by start-up (98 %), then arithmetic (1 %).
        Breaks even at 206.6 GFLOP (yours: 100 GFLOP), all else the same.
        Start-up is 500 ms of the GPU time; once warm it takes 8 ms.
        You assumed 12.5 TFLOP/s; fp32 array work on this card reaches 3–9 TFLOP/s.

          prices of 2026-11-01; one run alone is charged $0.013
          device            time, ms  speedup  $/1 000 runs  bound by  basis  verdict
          CPU: 400 GFLOP/s       250  1×                  ?            given
          RTX 3080               508  0.49×            0.09  compute   given  cpu

        given: flops 10 TFLOP · data 1 GB · link 32 GB/s · utilization 100 %
        assumed: workload factor 1

        coverage: numbers as given; nothing was run · 10 TFLOP · 1 GB to the GPU
        more: --verbose
        ");
    }

    #[test]
    fn break_even_is_told_once_and_only_of_what_is_known() {
        let mut e = examples::cpu_wins();
        let even = e.estimates[0].break_even.as_mut().unwrap();
        even.describes = "never: the GPU is no faster at any size".to_owned();
        assert!(plain(&e).contains("Never breaks even: the GPU is no faster at any size."));
        let rounds = crate::growth::RoundsCrossing { site: "x.py:3".to_owned(), now: 10, at: Some(20) };
        e.estimates[0].break_even.as_mut().unwrap().rounds = Some(rounds);
        let text = plain(&e);
        assert!(text.contains("\nWins from 20 rounds of the loop of x.py:3") && !text.contains("Never"), "{text}");
        // What is too close to call wins from there by the middle of the estimate alone.
        e.estimates[0].verdict = crate::estimate::Verdict::Either;
        let text = plain(&e);
        assert!(
            text.contains("\nLikely wins from 20 rounds of the loop of x.py:3") && !text.contains("\nWins"),
            "{text}"
        );
        e.estimates[0].verdict = crate::estimate::Verdict::Unknown;
        let text = plain(&e);
        assert!(!text.contains("Wins from") && !text.contains("reaks even"), "{text}");
    }

    #[test]
    fn the_whole_report_of_a_program() {
        insta::assert_snapshot!(whole(&examples::program()), @"
        GPU wins on 2 of 12 GPUs. Best value: L4 (cloud) — 6.2× faster [5.0–7.8], $0.31 per 1 000 runs (CPU: $1.90).
        Held back by kernel launches (58 %). Fusing the 7 element-wise steps of heat.py:14 → 19× [14–24].
        Breaks even at 310×310 grid points (yours: 1024×1024), all else the same.
        Copying in and out at each call would take 11.1 s instead.

          prices of 2026-11-01; one run alone is charged $0.013
          device              time, s  speedup           $/1 000 runs  energy, mWh   $/h  bound by  basis     verdict
          CPU: AMD EPYC 7763      8.6  1×                        1.90          350     ?            measured
          L4                      1.4  6.2× [5.0–7.8]            0.31           28  0.80  launch    modelled  gpu
          H100 SXM                0.9  9.6× [7.7–12]             0.20           18  0.80  launch    modelled  gpu
          GTX 1050                  ?  ?                            ?            ?     ?                      does not fit
          K80                       9  0.95× [0.76–1.2]          2.00          180  0.80  launch    modelled  either
          Old 0                    20  0.4× [0.32–0.5]           4.44          400  0.80  launch    modelled  cpu
          Old 1                    20  0.4× [0.32–0.5]           4.44          400  0.80  launch    modelled  cpu
          Old 2                    20  0.4× [0.32–0.5]           4.44          400  0.80  launch    modelled  cpu
          Old 3                    20  0.4× [0.32–0.5]           4.44          400  0.80  launch    modelled  cpu
          Old 4                    20  0.4× [0.32–0.5]           4.44          400  0.80  launch    modelled  cpu
          Old 5                    20  0.4× [0.32–0.5]           4.44          400  0.80  launch    modelled  cpu
          … 2 more: --top 12

          line        CPU, s  share  GPU, ms  bound by  verdict  code
          heat.py:14    6.11   71 %      710  launch    gpu      u[1:-1, 1:-1] += k * lap
          heat.py:12    2.24   26 %      260  launch    gpu      lap = u[2:] - 2 * u[1:-1] + u[:-2]

        why, on L4
          58 %  launch-bound: 40 000 launches of 12 µs of host time each; the kernels themselves take 375 ms.
                → Larger arrays in fewer calls, fused element-wise chains, or one CUDA graph for steps that repeat.

        the script's own clocks
          heat.py:10–17 would show 4 ms (8.1 s here); first call +300 ms; the work takes 1.3 s: wait for the GPU before reading
          the clock

        what would turn it
          error: the GPU wins until its time is 6.2× what is estimated

        note: The newest price used is 45 days old.
        coverage: 98 % of the array time is understood · 40 000 ops · 40 000 launches · 16 GFLOP · 640 GB moved · 8.4 MB to the
                  GPU · 8.4 MB back · 23.8 MiB at peak
        ");
    }

    #[test]
    fn a_program_on_many_gpus() {
        insta::assert_snapshot!(plain(&examples::program()), @"
        GPU wins on 2 of 12 GPUs. Best value: L4 (cloud) — 6.2× faster [5.0–7.8],
        $0.31 per 1 000 runs (CPU: $1.90).
        Held back by kernel launches (58 %). Fusing the 7 element-wise steps of
        heat.py:14 → 19× [14–24].
        Breaks even at 310×310 grid points (yours: 1024×1024), all else the same.
        Copying in and out at each call would take 11.1 s instead.

          prices of 2026-11-01; one run alone is charged $0.013
          device              time, s  speedup         $/1 000 runs  bound by  verdict
          CPU: AMD EPYC 7763      8.6  1×                      1.90
          L4                      1.4  6.2× [5.0–7.8]          0.31  launch    gpu
          H100 SXM                0.9  9.6× [7.7–12]           0.20  launch    gpu
          … 10 more: --top 12

          line        CPU, s  share  GPU, ms  bound by  verdict  code
          heat.py:14    6.11   71 %      710  launch    gpu      u[1:-1, 1:-1] += k * l…
          heat.py:12    2.24   26 %      260  launch    gpu      lap = u[2:] - 2 * u[1:…

        why: launch-bound (58 %): 40 000 launches of 12 µs of host time each; the
             kernels themselves take 375 ms.
        coverage: 98 % of the array time is understood · 40 000 ops · 40 000 launches
        more: --verbose
        ");
    }

    #[test]
    fn a_script_that_failed_says_so_first() {
        let mut e = examples::program();
        let text = "the script ended with exit code 1: this is what was seen until then";
        e.notes.push(crate::estimate::Note::new("script-failed", text));
        let sentence = crate::report::sentence(&e);
        let said = "The script ended with exit code 1: this is what was seen until then. GPU wins on 2 of 12 GPUs.";
        assert!(sentence.starts_with(said), "{sentence}");
        assert!(crate::report::html(&e, false).contains("on L4, as far as it ran</small>"));
        // It is told once where it asked for something in vain.
        e.notes.push(crate::estimate::Note::new("no-gpu", "the script asks for a GPU"));
        assert!(!crate::report::sentence(&e).contains("exit code"));
    }

    #[test]
    fn where_start_up_alone_decides_both_are_told() {
        let mut e = examples::program();
        e.estimates.truncate(1);
        let (said, row) = (crate::report::sentence, |e: &mut Estimate, verdict, speedup| {
            let g = &mut e.estimates[0];
            (g.verdict, g.speedup) = (verdict, Some(Interval::exact(speedup)));
            g.time_s = Some(Interval::exact(9.0));
            g.breakdown_s = Some(Breakdown { compute: 1.0, startup: 8.0, ..Breakdown::default() });
        });
        row(&mut e, Verdict::Cpu, 0.95);
        let cpu = "8.6× faster once warm on L4; in one run of 8.6 s it does not pay (9 s with start-up)";
        assert!(said(&e).starts_with(cpu), "{}", said(&e));
        row(&mut e, Verdict::Either, 1.04);
        let either = "8.6× faster once warm on L4; in one run of 8.6 s it is too close to call (1.0×)";
        assert!(said(&e).starts_with(either), "{}", said(&e));
        e.estimates[0].breakdown_s = Some(Breakdown { compute: 9.0, ..Breakdown::default() });
        assert!(said(&e).starts_with("Either will do: 9 s on L4 against 8.6 s"), "{}", said(&e));
        row(&mut e, Verdict::Gpu, 1.04);
        assert!(said(&e).starts_with("A little faster on L4"), "{}", said(&e));
    }

    #[test]
    fn many_gpus_of_which_nothing_is_known_take_one_line() {
        let mut e = examples::program();
        e.estimates.iter_mut().for_each(|row| (row.time_s, row.fits) = (None, None));
        let lines = |e: &Estimate| plain(e).lines().filter(|l| l.contains("L4")).count();
        assert!(plain(&e).contains("\n  … 12 GPUs unknown: --top 12\n"), "{}", plain(&e));
        let before = lines(&e);
        e.options = serde_json::json!({"top": 12});
        assert!(lines(&e) > before);
        e.options = serde_json::json!({});
        e.estimates.truncate(1);
        assert!(!plain(&e).contains("unknown: --top"));
    }

    #[test]
    fn hostile_names_are_shown_harmless() {
        insta::assert_snapshot!(plain(&examples::hostile()), @"
        6.2× faster [5.0–7.8] on �[2J<script>|L4�: 1.4 s against 8.6 s on the CPU ·
        $0.31 per 1 000 runs · 0.028 Wh
        Held back by kernel launches (58 %).
        Breaks even at 310×310 grid points (yours: 1024×1024), all else the same.
        Copying in and out at each call would take 11.1 s instead.

          prices of 2026-11-01; one run alone is charged $0.013
          device                    time, s  speedup         $/1 000 runs  verdict
          CPU: CPU��GPU wins on 99      8.6  1×                      1.90
          �[2J<script>|L4�              1.4  6.2× [5.0–7.8]          0.31  gpu

          line             CPU, s  share  GPU, ms  bound by  verdict  code
          �]0;gone�.py:14    6.11   71 %      710  launch    gpu      x = `a|b`  # AAAA…

        why: launch-bound (58 %): |`�[2J` <b>
        coverage: 98 % of the array time is understood · 40 000 ops · 40 000 launches
        more: --verbose
        ");
    }

    #[test]
    fn the_largest_reason_is_told_wherever_it_stands() {
        let mut e = examples::program();
        let reason = |code: &str, share| Reason::new(code, Some(share), format!("{code}."), String::new());
        let small = ["launch-bound", "memory-bound", "transfer-bound", "compute-bound"].map(|code| reason(code, 0.05));
        e.reasons = [small.as_slice(), &[reason("start-up-bound", 0.57)]].concat();
        let told = whole(&e);
        assert!(told.contains("start-up-bound: ") && told.contains("transfer-bound: "), "{told}");
        assert!(!told.contains("compute-bound: "), "{told}");
        e.reasons[4].share = None;
        assert!(whole(&e).contains("compute-bound: "));
    }

    #[test]
    fn imports_that_take_most_are_named_and_an_explanation_that_is_none() {
        let mut e = examples::program();
        e.baseline.startup_s = Some(Interval::exact(1.1));
        assert!(plain(&e).contains("Held back by imports (79 %, on either side), then"), "{}", plain(&e));
        let explained = text(&e, &TextOptions { explain: true, ..TextOptions::default() });
        assert!(explained.contains("note: no formula answers this"), "{explained}");
    }

    #[test]
    fn colour_only_on_request() {
        let coloured = text(&examples::program(), &TextOptions { color: true, ..TextOptions::default() });
        assert!(coloured.starts_with("\u{1b}[1mGPU wins"));
        assert!(!plain(&examples::program()).contains('\u{1b}'));
    }

    #[test]
    fn quiet_is_the_verdict_and_its_reasons() {
        let quiet = text(&examples::program(), &TextOptions { quiet: true, ..TextOptions::default() });
        insta::assert_snapshot!(quiet, @"
        GPU wins on 2 of 12 GPUs. Best value: L4 (cloud) — 6.2× faster [5.0–7.8],
        $0.31 per 1 000 runs (CPU: $1.90).
        Held back by kernel launches (58 %). Fusing the 7 element-wise steps of
        heat.py:14 → 19× [14–24].
        Breaks even at 310×310 grid points (yours: 1024×1024), all else the same.
        Copying in and out at each call would take 11.1 s instead.
        ");
    }
}
