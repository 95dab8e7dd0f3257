//! Text for a terminal: the verdict, the GPUs, the hot lines, what the reader should know, what it rests on.

use super::{explain, held_back, help, rows, why, words};
use crate::estimate::{Estimate, Side};

/// How a face wants its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// ANSI colours.
    pub color: bool,
    /// The formula with every input, its unit, basis and typical range.
    pub explain: bool,
    /// Only the first lines: the verdict and what holds it back.
    pub quiet: bool,
    /// Rows of the GPU table; 10 unless given.
    pub top: Option<u32>,
}

/// Pieces of advice shown.
const ADVICE: usize = 3;
/// Rows of a table unless the user says otherwise.
const TOP: usize = 10;

/// The whole report, each line ended.
pub fn text(e: &Estimate, options: &TextOptions) -> String {
    let paint = Paint(options.color);
    let mut out = paint.bold(&words::printable(&e.summary.sentence, 400)) + "\n";
    if let Some(line) = held_back(e) {
        out += &line;
        out.push('\n');
    }
    for line in rows::remarks(e) {
        out += &line;
        out.push('\n');
    }
    if options.quiet {
        return out;
    }

    if e.baseline.time_s.is_some() || !e.estimates.is_empty() {
        // Ten times that nothing is known say no more than one line.
        let known = e.estimates.len() <= TOP || e.estimates.iter().any(|row| row.time_s.is_some());
        let usual = if known { TOP } else { 0 };
        let top = options.top.map_or(usual, |n| usize::try_from(n).unwrap_or(usize::MAX));
        out.push('\n');
        out += &rows::gpus(e, top).text(|row, cell, padded| paint.cell(row, cell, padded));
        let hidden = e.estimates.len().saturating_sub(top);
        if hidden > 0 {
            let word = if known { "more" } else { "GPUs unknown" };
            out += &paint.dim(&format!("  … {hidden} {word}: --top {} shows all", e.estimates.len()));
            out.push('\n');
        }
    }
    let footprint = rows::footprint(e);
    if !footprint.is_empty() {
        out.push('\n');
        out += &footprint.text(|row, cell, padded| paint.cell(row, cell, padded));
    }
    if !e.sites.is_empty() {
        out.push('\n');
        out += &rows::sites(e, TOP).text(|row, cell, padded| paint.cell(row, cell, padded));
        let hidden = e.sites.len().saturating_sub(TOP);
        if hidden > 0 {
            out += &paint.dim(&format!("  … {hidden} more lines: --format json lists all"));
            out.push('\n');
        }
    }
    for (heading, lines) in why::blocks(e) {
        out += &format!("\n{}\n", paint.dim(&heading));
        for line in lines {
            out += &line;
            out.push('\n');
        }
    }
    // A single piece for the GPU stands in the second line already.
    if e.advice.len() > 1 || e.advice.first().is_some_and(|a| a.side == Side::Cpu) {
        out += &format!("\n{}\n", paint.dim("would help"));
        for advice in e.advice.iter().take(ADVICE) {
            out += &format!("  {}\n", help::line(advice));
        }
        for line in help::together(e) {
            out += &format!("  {line}\n");
        }
        if e.advice.len() > ADVICE {
            out += &paint.dim(&format!("  … {} more: --format markdown or json lists all", e.advice.len() - ADVICE));
            out.push('\n');
        }
    }
    if let Some(timeline) = &e.timeline {
        out += &format!("\non {}, {} in all\n", timeline.gpu, words::seconds(timeline.span_s));
        for row in &timeline.rows {
            let bar: String = row.busy.iter().map(|busy| block(*busy)).collect();
            out += &format!("  {:<11}  {bar}\n", row.name);
        }
    }
    if let Some(formula) = &e.formula {
        out.push('\n');
        if options.explain {
            for line in explain::FORMULA {
                out += &format!("  {line}\n");
            }
            out.push('\n');
            out += &explain::inputs(formula).text(|row, cell, padded| paint.cell(row, cell, padded));
        } else {
            for line in explain::echo(formula) {
                out += &line;
                out.push('\n');
            }
        }
    }
    out.push('\n');
    // The clocks have a block of their own.
    let told = |code: &str| !e.timers.is_empty() && matches!(code, "timer-without-wait" | "own-clocks");
    for note in e.notes.iter().filter(|note| !told(&note.code)) {
        out += &format!("{} {}\n", paint.dim("note:"), words::printable(&note.text, 600));
    }
    out += &paint.dim(&rows::coverage(e));
    out.push('\n');
    out
}

/// A share as a bar of that height; a little is never nothing.
fn block(share: f64) -> char {
    const BLOCKS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    BLOCKS[((share * 8.0).ceil() as usize).min(8)]
}

/// ANSI colours, or nothing.
struct Paint(bool);

impl Paint {
    fn with(&self, code: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }

    fn dim(&self, text: &str) -> String {
        self.with("2", text)
    }

    /// Headers are dim; verdicts and unknowns have their colour.
    fn cell(&self, row: Option<usize>, cell: &str, padded: String) -> String {
        match (row, cell) {
            (None, _) | (_, words::UNKNOWN | "assumed") => self.dim(&padded),
            (_, "gpu") => self.with("32", &padded),
            (_, "cpu" | "does not fit") => self.with("31", &padded),
            (_, "either" | "unknown") => self.with("33", &padded),
            _ => padded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;
    use crate::estimate::Reason;

    fn plain(e: &Estimate) -> String {
        text(e, &TextOptions::default())
    }

    #[test]
    fn one_gpu_from_numbers() {
        insta::assert_snapshot!(plain(&examples::numbers()), @"
        19× faster on RTX 3080: 1.3 s against 25 s on the CPU · $0.0001 · 0.12 Wh
        Held back by arithmetic (62 %).
        Start-up is 469 ms of the GPU time; once warm it takes 831 ms.
        Breaks even at 206.6 GFLOP (yours: 10 TFLOP).
        You assumed 12.5 TFLOP/s; fp32 array work on this card reaches 3–9 TFLOP/s.

          device             time  speedup     cost   energy    price  bound by  basis  verdict
          CPU: 400 GFLOP/s   25 s  1×             ?        ?        ?            given
          RTX 3080          1.3 s  19×      $0.0001  0.12 Wh  $0.80/h  compute   given  gpu

        given: flops 10 TFLOP · data 1 GB · link 32 GB/s · utilization 100 %
        assumed: workload factor 1

        coverage: numbers as given; nothing was run · 10 TFLOP · 1 GB to the GPU · 0 B back
        ");
    }

    #[test]
    fn explained() {
        let options = TextOptions { explain: true, ..TextOptions::default() };
        insta::assert_snapshot!(text(&examples::numbers(), &options), @"
        19× faster on RTX 3080: 1.3 s against 25 s on the CPU · $0.0001 · 0.12 Wh
        Held back by arithmetic (62 %).
        Start-up is 469 ms of the GPU time; once warm it takes 831 ms.
        Breaks even at 206.6 GFLOP (yours: 10 TFLOP).
        You assumed 12.5 TFLOP/s; fp32 array work on this card reaches 3–9 TFLOP/s.

          device             time  speedup     cost   energy    price  bound by  basis  verdict
          CPU: 400 GFLOP/s   25 s  1×             ?        ?        ?            given
          RTX 3080          1.3 s  19×      $0.0001  0.12 Wh  $0.80/h  compute   given  gpu

          effective rate = peak × utilisation × (1 − python overhead) × workload factor × precision factor
          GPU time = max(FLOP ÷ effective rate, bytes ÷ (bandwidth × 0.85)) + data ÷ link + initialisation
          CPU time = FLOP ÷ CPU rate
          with a parallel fraction p < 1 the first term becomes (1 − p) × CPU time + p × that term
          cost = hours × price; energy = watts × time × GPUs

          input               value  basis    typical
          flops            10 TFLOP  given
          data                 1 GB  given
          link              32 GB/s  given    8–64 GB/s
          utilization         100 %  given    0.05–0.80
          workload_factor         1  assumed

        coverage: numbers as given; nothing was run · 10 TFLOP · 1 GB to the GPU · 0 B back
        ");
    }

    #[test]
    fn the_cpu_is_faster() {
        insta::assert_snapshot!(plain(&examples::cpu_wins()), @"
        CPU is faster: 250 ms against 508 ms on RTX 3080 (2.0× slower on GPU) · $0.0001 · 0.12 Wh
        Held back by start-up (98 %), then arithmetic (2 %).
        Start-up is 500 ms of the GPU time; once warm it takes 8 ms.
        Breaks even at 206.6 GFLOP (yours: 100 GFLOP).
        You assumed 12.5 TFLOP/s; fp32 array work on this card reaches 3–9 TFLOP/s.

          device              time  speedup     cost   energy    price  bound by  basis  verdict
          CPU: 400 GFLOP/s  250 ms  1×             ?        ?        ?            given
          RTX 3080          508 ms  0.49×    $0.0001  0.12 Wh  $0.80/h  compute   given  cpu

        given: flops 10 TFLOP · data 1 GB · link 32 GB/s · utilization 100 %
        assumed: workload factor 1

        coverage: numbers as given; nothing was run · 10 TFLOP · 1 GB to the GPU · 0 B back
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
        assert!(text.contains("Wins from 20 rounds") && !text.contains("Never"), "{text}");
        e.estimates[0].verdict = crate::estimate::Verdict::Unknown;
        let text = plain(&e);
        assert!(!text.contains("Wins from") && !text.contains("reaks even"), "{text}");
    }

    #[test]
    fn a_program_on_many_gpus() {
        insta::assert_snapshot!(plain(&examples::program()), @"
        GPU wins on 2 of 12 GPUs. Best value: L4 — 6.2× faster [5.0–7.8], $0.0003 per run (CPU: $0.0019).
        Held back by kernel launches (58 %). Fusing the 7 element-wise steps of heat.py:14 → 19× [14–24].
        Copying in and out at each call would take 11.1 s instead.
        Breaks even at 310×310 grid points (yours: 1024×1024).

          device                time  speedup              cost    energy    price  bound by  basis     verdict
          CPU: AMD EPYC 7763   8.6 s  1×                $0.0019   0.35 Wh        ?            measured
          L4                   1.4 s  6.2× [5.0–7.8]    $0.0003  0.028 Wh  $0.80/h  launch    modelled  gpu
          H100 SXM            900 ms  9.6× [7.7–12]     $0.0002  0.018 Wh  $0.80/h  launch    modelled  gpu
          GTX 1050                 ?  ?                       ?         ?        ?                      does not fit
          K80                    9 s  0.95× [0.76–1.2]  $0.0020   0.18 Wh  $0.80/h  launch    modelled  either
          Old 0                 20 s  0.4× [0.32–0.5]   $0.0044    0.4 Wh  $0.80/h  launch    modelled  cpu
          Old 1                 20 s  0.4× [0.32–0.5]   $0.0044    0.4 Wh  $0.80/h  launch    modelled  cpu
          Old 2                 20 s  0.4× [0.32–0.5]   $0.0044    0.4 Wh  $0.80/h  launch    modelled  cpu
          Old 3                 20 s  0.4× [0.32–0.5]   $0.0044    0.4 Wh  $0.80/h  launch    modelled  cpu
          Old 4                 20 s  0.4× [0.32–0.5]   $0.0044    0.4 Wh  $0.80/h  launch    modelled  cpu
          Old 5                 20 s  0.4× [0.32–0.5]   $0.0044    0.4 Wh  $0.80/h  launch    modelled  cpu
          … 2 more: --top 12 shows all

          line           CPU  share   on L4  bound by  verdict  code
          heat.py:14  6.11 s   71 %  710 ms  launch    gpu      u[1:-1, 1:-1] += k * lap
          heat.py:12  2.24 s   26 %  260 ms  launch    gpu      lap = u[2:] - 2 * u[1:-1] + u[:-2]

        why, on L4
          58 %  launch-bound: 40 000 launches of 12 µs of host time each; the kernels themselves take 375 ms.
                → Larger arrays in fewer calls, fused element-wise chains, or one CUDA graph for steps that repeat.

        the script's own clocks
          heat.py:10–17 would show 4 ms (8.1 s here); first call +300 ms; the work takes 1.3 s: wait for the GPU before reading the clock

        what would turn it
          error: the GPU wins until its time is 6.2× what is estimated

        note: The newest price used is 45 days old.
        coverage: 98 % of the array time is understood · 40 000 ops · 40 000 launches · 16 GFLOP · 640 GB moved · 8.4 MB to the GPU · 8.4 MB back · 23.8 MiB at peak
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
        assert!(crate::report::html(&e).contains("on L4, as far as it ran</small>"));
        // It is told once where it asked for something in vain.
        e.notes.push(crate::estimate::Note::new("no-gpu", "the script asks for a GPU"));
        assert!(!crate::report::sentence(&e).contains("exit code"));
    }

    #[test]
    fn many_gpus_of_which_nothing_is_known_take_one_line() {
        let mut e = examples::program();
        e.estimates.iter_mut().for_each(|row| row.time_s = None);
        let lines = |e: &Estimate, options: &TextOptions| text(e, options).lines().filter(|l| l.contains("L4")).count();
        assert!(plain(&e).contains("\n  … 12 GPUs unknown: --top 12 shows all\n"), "{}", plain(&e));
        assert!(
            lines(&e, &TextOptions { top: Some(12), ..TextOptions::default() }) > lines(&e, &TextOptions::default())
        );
        e.estimates.truncate(1);
        assert!(!plain(&e).contains("unknown: --top"));
    }

    #[test]
    fn hostile_names_are_shown_harmless() {
        insta::assert_snapshot!(plain(&examples::hostile()), @"
        6.2× faster [5.0–7.8] on �[2J<script>|L4�: 1.4 s against 8.6 s on the CPU · $0.0003 · 0.028 Wh
        Held back by kernel launches (58 %).
        Copying in and out at each call would take 11.1 s instead.
        Breaks even at 310×310 grid points (yours: 1024×1024).

          device                     time  speedup            cost    energy    price  bound by  basis     verdict
          CPU: CPU��GPU wins on 99  8.6 s  1×              $0.0019   0.35 Wh        ?            measured
          �[2J<script>|L4�          1.4 s  6.2× [5.0–7.8]  $0.0003  0.028 Wh  $0.80/h  launch    modelled  gpu

          line                CPU  share  on �[2J<script>|L4�  bound by  verdict  code
          �]0;gone�.py:14  6.11 s   71 %               710 ms  launch    gpu      x = `a|b`  # AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA…

        why, on �[2J<script>|L4�
          58 %  launch-bound: |`�[2J` <b>
                → Larger arrays in fewer calls, fused element-wise chains, or one CUDA graph for steps that repeat.

        note: a�b *bold* [link](http://x)
        coverage: 98 % of the array time is understood · 40 000 ops · 40 000 launches · 16 GFLOP · 640 GB moved · 8.4 MB to the GPU · 8.4 MB back · 23.8 MiB at peak
        ");
    }

    #[test]
    fn the_largest_reason_is_told_wherever_it_stands() {
        let mut e = examples::program();
        let reason = |code: &str, share| Reason::new(code, Some(share), format!("{code}."), String::new());
        let small = ["launch-bound", "memory-bound", "transfer-bound", "compute-bound"].map(|code| reason(code, 0.05));
        e.reasons = [small.as_slice(), &[reason("start-up-bound", 0.57)]].concat();
        let told = plain(&e);
        assert!(told.contains("start-up-bound: ") && told.contains("transfer-bound: "), "{told}");
        assert!(!told.contains("compute-bound: "), "{told}");
        e.reasons[4].share = None;
        assert!(plain(&e).contains("compute-bound: "));
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
        GPU wins on 2 of 12 GPUs. Best value: L4 — 6.2× faster [5.0–7.8], $0.0003 per run (CPU: $0.0019).
        Held back by kernel launches (58 %). Fusing the 7 element-wise steps of heat.py:14 → 19× [14–24].
        Copying in and out at each call would take 11.1 s instead.
        Breaks even at 310×310 grid points (yours: 1024×1024).
        ");
    }
}
