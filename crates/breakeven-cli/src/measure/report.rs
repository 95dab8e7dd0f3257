//! What was measured, for people: the sentence first, disagreement before anything else.

use super::measured::median;
use super::{Activity, Measured, Reached, Side, table};
use breakeven::report::{hanging, words};

/// Lines of code, and of fallbacks, unless all are asked for.
const SHOWN: usize = 10;

/// The first line.
fn sentence(found: &Measured) -> String {
    let mut parts: Vec<String> = Vec::new();
    let results = found.results.as_ref().map(|results| (results.agree, results.words()));
    if let Some(failed) = failure(found) {
        parts.push(failed);
    }
    if let Some((false, words)) = &results {
        parts.push(words.clone());
        parts.extend(referee(found));
    }
    parts.extend(speed(found));
    if let Some((true, words)) = results {
        parts.push(words);
    }
    parts.join(" · ")
}

/// Which side of a difference is off, where a run in float64 says it.
fn referee(found: &Measured) -> Option<String> {
    let other = found.other.as_ref()?;
    let referee = found.results.as_ref()?.referee.as_ref()?;
    let names = found.against.as_ref().map(|against| [format!("`{}`", found.script), format!("`{against}`")]);
    let [first, second] = names.unwrap_or_else(|| [name(found, &found.cpu), name(found, other)]);
    Some(referee.words(&first, &second))
}

/// A side on which the script failed.
fn failure(found: &Measured) -> Option<String> {
    let one = side_failure(&found.cpu);
    let other = found.other.as_ref().map(|side| (side, side_failure(side)));
    let on = |side: &Side| name(found, side);
    match (one, other) {
        (Some(why), Some((_, Some(_)))) => Some(format!("the script fails on both sides ({why})")),
        (Some(why), Some((other, None))) => {
            Some(format!("the script fails on {} alone ({why}), not on {}", on(&found.cpu), on(other)))
        }
        (Some(why), None) => Some(format!("the script fails on {} ({why})", on(&found.cpu))),
        (None, Some((other, Some(why)))) => Some(format!("the script fails on {} alone ({why})", on(other))),
        (None, _) => None,
    }
}

fn side_failure(side: &Side) -> Option<String> {
    let exit = |run: &super::side::Run| {
        let error = std::fs::read_to_string(&run.stderr).unwrap_or_default();
        let last = error.trim_end().lines().last().unwrap_or_default().to_owned();
        if last.is_empty() { format!("exit code {}", run.exit) } else { words::printable(&last, 120) }
    };
    side.killed.map(|signal| format!("killed by signal {signal}")).or_else(|| side.failed().map(exit))
}

/// How a side is called.
fn name(found: &Measured, side: &Side) -> String {
    match (side.side.as_str(), found.against.as_deref(), found.reached) {
        ("cpu", Some(against), _) if std::ptr::eq(side, &found.cpu) => format!("`{}` (not `{against}`)", found.script),
        ("cpu", Some(against), _) => format!("`{against}`"),
        ("cpu", None, _) => "the CPU".to_owned(),
        ("check-port", ..) => "breakeven's stand-in for CuPy".to_owned(),
        _ => side.device.clone().unwrap_or_else(|| "the GPU".to_owned()),
    }
}

/// How much faster, as far as that was measured.
fn speed(found: &Measured) -> Vec<String> {
    match found.reached {
        Reached::Gpu => {
            let measured = found.speedup.map(|s| format!("{}, measured{}", faster(s.p50), words::range(s)));
            let predicted = found.predicted.as_ref().and_then(|p| p.warm_speedup).map(words::speedup);
            let predicted = predicted.map(|text| format!("predicted {text}"));
            let both: Vec<String> = [measured, predicted].into_iter().flatten().collect();
            if both.is_empty() { Vec::new() } else { vec![both.join("; ")] }
        }
        Reached::TwoOnCpu => {
            let against = found.against.as_deref().unwrap_or("the second");
            let said = |s: breakeven::interval::Interval| {
                format!("{against} is {}, measured{}, both on the CPU", faster(s.p50), words::range(s))
            };
            found.speedup.map(said).into_iter().collect()
        }
        Reached::NoGpu => {
            let both = found.against.is_some();
            let said = if both {
                "no GPU here: both scripts ran on the CPU, and nothing of it is the time of a GPU"
            } else {
                "no GPU here: the CPU side was measured, the GPU side is predicted"
            };
            let predicted = found.predicted.as_ref().map(|predicted| predicted.sentence.clone());
            std::iter::once(said.to_owned()).chain(predicted).collect()
        }
        Reached::Interrupted => vec!["interrupted (Ctrl-C): what had been measured until then".to_owned()],
    }
}

fn faster(ratio: f64) -> String {
    if ratio >= 0.995 {
        format!("{} faster", words::times(ratio))
    } else {
        format!("{} slower", words::times(1.0 / ratio))
    }
}

/// Cold and warm, both sides, measured beside predicted.
fn times(found: &Measured) -> Vec<Vec<String>> {
    let measured_gpu = matches!(found.reached, Reached::Gpu | Reached::TwoOnCpu);
    let other = found.other.as_ref().filter(|side| measured_gpu || side.side == "gpu" || side.side == "port");
    let other = other.filter(|_| found.reached != Reached::NoGpu);
    let (first, second) = match found.reached {
        Reached::TwoOnCpu => (found.script.clone(), found.against.clone().unwrap_or_default()),
        _ => ("CPU".to_owned(), other.map_or_else(|| "GPU".to_owned(), |side| name(found, side))),
    };
    let predicted = found.predicted.as_ref();
    let mut rows = vec![vec![String::new(), first]];
    if other.is_some() {
        rows[0].extend([second, "ratio".to_owned()]);
    }
    if let Some(predicted) = predicted {
        rows[0].push(format!("predicted, {}", predicted.gpu));
    }
    let shown = |seconds: Option<f64>| seconds.map_or_else(|| words::UNKNOWN.to_owned(), words::seconds);
    let runs = |n: usize| if n == 1 { "warm (1 run)".to_owned() } else { format!("warm (of {n} runs)") };
    let cpu = found.cpu.warm();
    let mut add = |label: String, one: Option<f64>, two: Option<f64>, ratio: Option<String>, guess: Option<String>| {
        let mut row = vec![label, shown(one)];
        if other.is_some() {
            row.extend([shown(two), ratio.unwrap_or_else(|| words::UNKNOWN.to_owned())]);
        }
        if predicted.is_some() {
            row.push(guess.unwrap_or_else(|| words::UNKNOWN.to_owned()));
        }
        rows.push(row);
    };
    let guess = |time: Option<breakeven::interval::Interval>, speedup: Option<breakeven::interval::Interval>| {
        Some(format!("{}, {}", words::time(time?), words::speedup(speedup?)))
    };
    if found.cpu.ended() > 1 {
        add(
            runs(cpu.len()),
            median(&cpu),
            other.and_then(|side| median(&side.warm())),
            found.speedup.map(words::speedup),
            predicted.and_then(|p| guess(p.warm_s, p.warm_speedup)),
        );
    }
    add(
        "cold (first run)".to_owned(),
        found.cpu.cold(),
        other.and_then(Side::cold),
        found.cold_speedup.map(words::times),
        predicted.and_then(|p| guess(p.time_s, p.speedup)),
    );
    rows
}

/// Everything below the first line, as paragraphs: a table, or lines.
enum Part {
    Table(Vec<Vec<String>>),
    Said(Vec<String>),
}

fn parts(found: &Measured, verbose: bool) -> Vec<Part> {
    let most = if verbose { usize::MAX } else { SHOWN };
    let mut parts = Vec::new();
    let mut said = Vec::new();
    if let Some(results) = &found.results {
        let differences = results.differences.iter().skip(1).take(most);
        said.extend(differences.map(|found| format!("differs too: {}", words::printable(&found.text, 300))));
        if results.compared > 0 {
            said.push(format!(
                "compared: {}, {} of printed text with {}, {}",
                words::several(results.arrays, "array", "arrays"),
                words::several(results.lines, "line", "lines"),
                words::several(results.numbers, "number", "numbers"),
                words::several(results.files, "file", "files"),
            ));
        }
        if !results.varying.is_empty() {
            let what = results.varying.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
            said.push(format!(
                "nondeterministic: two runs of one side differ ({what}); the tolerance was widened to that"
            ));
        }
        said.extend(
            results.left_out.iter().take(most).map(|text| format!("not compared: {}", words::printable(text, 200))),
        );
    }
    parts.push(Part::Said(std::mem::take(&mut said)));
    parts.push(Part::Table(times(found)));
    if let Some(other) = &found.other {
        if let Some((calls, fell)) = table::calls(other) {
            let device = if other.side == "check-port" { "the stand-in for CuPy" } else { "CuPy" };
            said.push(format!(
                "calls: {} through the port, {} of them by {device}, {} by NumPy",
                words::count(calls),
                words::count(calls - fell),
                words::count(fell)
            ));
        }
        said.extend(table::copies(other).map(|copies| format!("copies: {copies}")));
        said.extend(table::fallbacks(other, most).into_iter().map(|text| format!("by NumPy: {text}")));
        said.extend(other.activity.and_then(activity));
        let joules: Vec<f64> = other.runs.iter().skip(1).filter_map(|run| run.joules).collect();
        if let Some(last) = joules.last() {
            said.push(format!("energy: {last:.3} J a warm run, by the board's counter"));
        }
    }
    parts.push(Part::Said(std::mem::take(&mut said)));
    let (rows, hidden) = table::lines(found, most);
    parts.push(Part::Table(rows));
    if hidden > 0 {
        said.push(format!("… {hidden} more lines: --verbose"));
    }
    let notes = found.notes.iter().chain(&found.cpu.notes).chain(found.other.iter().flat_map(|side| &side.notes));
    said.extend(notes.map(|note| format!("note: {}", words::printable(note, 400))));
    parts.push(Part::Said(said));
    parts
}

/// What the GPU was seen to do.
fn activity(seen: Activity) -> Option<String> {
    let busy = seen.busy.map(|busy| format!("busy {} of the time", words::percent(busy)));
    let memory = seen.memory_bytes.map(|bytes| format!("{} more of its memory in use", words::bytes(bytes)));
    let parts: Vec<String> = busy.into_iter().chain(memory).collect();
    (!parts.is_empty()).then(|| format!("GPU: {}, by its driver", parts.join(", ")))
}

/// For a terminal of so many columns.
pub(crate) fn text(found: &Measured, quiet: bool, verbose: bool, width: usize) -> String {
    let mut out = hanging("", &sentence(found), width).join("\n") + "\n";
    if quiet {
        return out;
    }
    for part in parts(found, verbose) {
        let told = match part {
            Part::Table(rows) => table::aligned(&rows),
            Part::Said(lines) => {
                let marked = lines.iter().flat_map(|line| {
                    let (mark, rest) = line.split_once(": ").unwrap_or(("", line));
                    let mark = if mark.is_empty() { String::new() } else { format!("{mark}: ") };
                    hanging(&mark, rest, width)
                });
                marked.collect::<Vec<_>>().join("\n")
            }
        };
        if !told.is_empty() {
            out += &format!("\n{told}\n");
        }
    }
    out
}

/// For a page or a ticket.
pub(crate) fn markdown(found: &Measured, quiet: bool) -> String {
    let mut out = format!("**{}**\n", sentence(found));
    if quiet {
        return out;
    }
    for part in parts(found, true) {
        let told = match part {
            Part::Table(rows) => table::piped(&rows),
            Part::Said(lines) => lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n"),
        };
        if !told.is_empty() {
            out += &format!("\n{told}\n");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::side::{Line, Port, Run};
    use crate::measure::{Compared, Prediction, SCHEMA, ratio};
    use breakeven::interval::Interval;

    fn side(name: &str, seconds: [f64; 4]) -> Side {
        let runs = seconds.into_iter().map(|seconds| Run { seconds, ..Run::default() }).collect();
        Side { side: name.to_owned(), runs, ..Side::default() }
    }

    /// A script measured on a GPU.
    fn measured() -> Measured {
        let cpu = side("cpu", [2.0, 1.8, 1.7, 1.9]);
        let mut gpu = side("port", [1.0, 0.1, 0.11, 0.1]);
        gpu.device = Some("NVIDIA L4".to_owned());
        let mut by_line = side("port", [1.0; 4]);
        let line = Line { file: "heat.py".to_owned(), line: 6, calls: 9, seconds: 0.09 };
        by_line.runs[3].port = Some(Port { lines: vec![line], ..Port::default() });
        let interval = |p10, p50, p90| Some(Interval { p10, p50, p90 });
        let lines = vec![crate::measure::measured::PredictedLine {
            file: "heat.py".to_owned(),
            line: 6,
            code: "u += lap".to_owned(),
            cpu_s: 1.5,
            gpu_s: interval(0.03, 0.036, 0.05),
        }];
        let predicted = Prediction {
            gpu: "L4".to_owned(),
            sentence: String::new(),
            warm_speedup: interval(14.0, 21.0, 30.0),
            speedup: interval(0.9, 1.5, 2.0),
            warm_s: interval(0.06, 0.085, 0.13),
            time_s: interval(0.9, 1.2, 2.0),
            lines,
            h2d_bytes: None,
            d2h_bytes: None,
        };
        Measured {
            schema: SCHEMA.to_owned(),
            script: "heat.py".to_owned(),
            speedup: ratio(&cpu.warm(), &gpu.warm()),
            cold_speedup: Some(2.0),
            results: Some(Compared { agree: true, compared: 3, largest_relative: 3e-12, ..Compared::default() }),
            predicted: Some(predicted),
            cpu,
            other: Some(gpu),
            by_line: Some(by_line),
            ..Measured::default()
        }
    }

    #[test]
    fn what_was_measured_stands_beside_what_was_predicted() {
        let found = measured();
        assert_eq!(
            sentence(&found),
            "18× faster, measured [15–19]; predicted 21× [14–30] · results agree (largest relative difference 3e-12)"
        );
        let told = text(&found, false, false, 120);
        for words in
            ["NVIDIA L4", "warm (of 3 runs)  1.8 s  100 ms", "cold (first run)  2 s    1 s", "36 ms", "90 ms !"]
        {
            assert!(told.contains(words), "{words}: {told}");
        }
    }

    #[test]
    fn a_disagreement_comes_before_any_time() {
        let mut found = measured();
        let difference = crate::measure::compared::Difference {
            what: "array u".to_owned(),
            text: "array u[3]: 1 against nan".to_owned(),
            relative: None,
        };
        let results = Compared { differences: vec![difference], compared: 3, ..Compared::default() };
        found.results = Some(results);
        assert!(sentence(&found).starts_with("results differ: array u[3]: 1 against nan · 18× faster"));
    }
}
