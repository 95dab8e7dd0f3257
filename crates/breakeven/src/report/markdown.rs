//! Markdown for a page, a pull request, a ticket.

use super::sentence::chosen;
use super::{explain, held_back, help, remarks, rows, several, text, why, words};
use crate::estimate::Estimate;

/// The whole report, or the first lines alone where it is to be `quiet`; every name of other people's making is escaped.
pub fn markdown(e: &Estimate, quiet: bool) -> String {
    let mut out = format!("**{}**\n", escape(&words::printable(&e.summary.sentence, 400)));
    let reasons: Vec<String> = held_back(e).into_iter().chain(remarks::remarks(e)).collect();
    if !reasons.is_empty() {
        out += &format!("\n{}\n", escape(&reasons.join("\n")));
    }
    if quiet {
        return out;
    }
    let top = rows::top(e).unwrap_or(usize::MAX);
    let gpus = rows::gpus(e, top);
    if !gpus.is_empty() {
        let days = rows::priced(e, top).map_or_else(String::new, |days| format!("\n{}\n", words::as_sentence(&days)));
        out += &format!("{days}\n{}", gpus.map(escape).markdown());
    }
    let scaling = several::table(e);
    if !scaling.is_empty() {
        out += &format!("\n### Several GPUs\n\n{}", scaling.map(escape).markdown());
    }
    let footprint = rows::footprint(e);
    if !footprint.is_empty() {
        out += &format!("\n{}", footprint.map(escape).markdown());
    }
    let sites = rows::sites(e, usize::MAX);
    if !sites.is_empty() {
        out += &format!("\n### Hot lines{}\n\n{}", escape(&on(e)), sites.map(escape).markdown());
    }
    for (i, line) in text::timeline(e).iter().enumerate().skip(1) {
        let (before, after) = if i == 1 { ("\n### In the course of the run\n\n", "\n") } else { ("    ", "") };
        out += &format!("{before}{line}\n{after}");
    }
    out += &why::lists(e, escape);
    out += &help::list(e, escape);
    if let Some(formula) = &e.formula {
        out += "\n### Formula\n\n";
        for line in explain::FORMULA {
            out += &format!("    {line}\n");
        }
        out += &format!("\n{}", explain::inputs(formula).map(escape).markdown());
    }
    if !e.notes.is_empty() {
        out += "\n### Notes\n\n";
        for note in &e.notes {
            out +=
                &format!("- {} (`{}`)\n", escape(&words::printable(&note.text, 600)), words::printable(&note.code, 60));
        }
    }
    out += &format!("\ncoverage: {}\n", escape(&remarks::coverage(e).join(" · ")));
    out
}

/// `, on L4`: the GPU that the report speaks of.
fn on(e: &Estimate) -> String {
    chosen(e).map_or_else(String::new, |g| format!(", on {}", words::printable(&g.name, 60)))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out += "&lt;",
            '&' => out += "&amp;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;

    #[test]
    fn a_program_on_many_gpus() {
        insta::assert_snapshot!(markdown(&examples::program(), false), @r#"
        **GPU wins on 2 of 12 GPUs. Best value: L4 (cloud) — 6.2× faster \[5.0–7.8\], $0.31 per 1 000 runs (CPU: $1.90).**

        Held back by kernel launches (58 %). Fusing the 7 element-wise steps of heat.py:14 → 19× \[14–24\].
        Breaks even at 310×310 grid points (yours: 1024×1024), all else the same.
        Copying in and out at each call would take 11.1 s instead.

        Prices of 2026-11-01; one run alone is charged $0.013.

        | device | time, s | speedup | $/1 000 runs | energy, mWh | $/h | bound by | basis | verdict |
        | --- | ---: | --- | ---: | ---: | ---: | --- | --- | --- |
        | CPU: AMD EPYC 7763 | 8.6 | 1× | 1.90 | 350 | ? |  | measured |  |
        | L4 | 1.4 | 6.2× \[5.0–7.8\] | 0.31 | 28 | 0.80 | launch | modelled | gpu |
        | H100 SXM | 0.9 | 9.6× \[7.7–12\] | 0.20 | 18 | 0.80 | launch | modelled | gpu |
        | GTX 1050 | ? | ? | ? | ? | ? |  |  | does not fit |
        | K80 | 9 | 0.95× \[0.76–1.2\] | 2.00 | 180 | 0.80 | launch | modelled | either |
        | Old 0 | 20 | 0.4× \[0.32–0.5\] | 4.44 | 400 | 0.80 | launch | modelled | cpu |
        | Old 1 | 20 | 0.4× \[0.32–0.5\] | 4.44 | 400 | 0.80 | launch | modelled | cpu |
        | Old 2 | 20 | 0.4× \[0.32–0.5\] | 4.44 | 400 | 0.80 | launch | modelled | cpu |
        | Old 3 | 20 | 0.4× \[0.32–0.5\] | 4.44 | 400 | 0.80 | launch | modelled | cpu |
        | Old 4 | 20 | 0.4× \[0.32–0.5\] | 4.44 | 400 | 0.80 | launch | modelled | cpu |
        | Old 5 | 20 | 0.4× \[0.32–0.5\] | 4.44 | 400 | 0.80 | launch | modelled | cpu |
        | Old 6 | 20 | 0.4× \[0.32–0.5\] | 4.44 | 400 | 0.80 | launch | modelled | cpu |
        | Old 7 | 20 | 0.4× \[0.32–0.5\] | 4.44 | 400 | 0.80 | launch | modelled | cpu |

        ### Hot lines, on L4

        | line | CPU, s | share | GPU, ms | bound by | verdict | code |
        | --- | ---: | ---: | ---: | --- | --- | --- |
        | heat.py:14 | 6.11 | 71 % | 710 | launch | gpu | u\[1:-1, 1:-1\] += k \* lap |
        | heat.py:12 | 2.24 | 26 % | 260 | launch | gpu | lap = u\[2:\] - 2 \* u\[1:-1\] + u\[:-2\] |

        ### Why

        - **launch-bound** (58 %): 40 000 launches of 12 µs of host time each; the kernels themselves take 375 ms. Larger arrays in fewer calls, fused element-wise chains, or one CUDA graph for steps that repeat.
          launches 40 000
        - **launch-bound** (41 %, heat.py:14): 40 000 launches of 12 µs of host time each; the kernels themselves take 375 ms. Larger arrays in fewer calls, fused element-wise chains, or one CUDA graph for steps that repeat.
          launches 40 000

        ### The script's own clocks

        - heat.py:10–17 would show 4 ms (8.1 s here); first call +300 ms; the work takes 1.3 s: wait for the GPU before reading the clock

        ### What would turn it

        - error: the GPU wins until its time is 6.2× what is estimated
        - GPU: none of 12 turns it

        ### Would help

        - Fusing the 7 element-wise steps of heat.py:14 → 19× \[14–24\]
          seven launches do the work of one.

        ### Notes

        - The newest price used is 45 days old. (`old-prices`)

        coverage: 98 % of the array time is understood · 40 000 ops · 40 000 launches · 16 GFLOP · 640 GB moved · 8.4 MB to the GPU · 8.4 MB back · 23.8 MiB at peak
        "#);
    }

    #[test]
    fn hostile_names_cannot_write_markup() {
        insta::assert_snapshot!(markdown(&examples::hostile(), false), @r#"
        **6.2× faster \[5.0–7.8\] on �\[2J&lt;script>\|L4�: 1.4 s against 8.6 s on the CPU · $0.31 per 1 000 runs · 0.028 Wh**

        Held back by kernel launches (58 %).
        Breaks even at 310×310 grid points (yours: 1024×1024), all else the same.
        Copying in and out at each call would take 11.1 s instead.

        Prices of 2026-11-01; one run alone is charged $0.013.

        | device | time, s | speedup | $/1 000 runs | energy, mWh | $/h | bound by | basis | verdict |
        | --- | ---: | --- | ---: | ---: | ---: | --- | --- | --- |
        | CPU: CPU��GPU wins on 99 | 8.6 | 1× | 1.90 | 350 | ? |  | measured |  |
        | �\[2J&lt;script>\|L4� | 1.4 | 6.2× \[5.0–7.8\] | 0.31 | 28 | 0.80 | launch | modelled | gpu |

        ### Hot lines, on �\[2J&lt;script>\|L4�

        | line | CPU, s | share | GPU, ms | bound by | verdict | code |
        | --- | ---: | ---: | ---: | --- | --- | --- |
        | �\]0;gone�.py:14 | 6.11 | 71 % | 710 | launch | gpu | x = \`a\|b\`  # AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA… |

        ### Why

        - **launch-bound** (58 %, a\_b\*�.py:3): \|\`�\[2J\` &lt;b> Larger arrays in fewer calls, fused element-wise chains, or one CUDA graph for steps that repeat.
          launches 40 000

        ### Notes

        - a�b \*bold\* \[link\](http://x) (`old-prices`)

        coverage: 98 % of the array time is understood · 40 000 ops · 40 000 launches · 16 GFLOP · 640 GB moved · 8.4 MB to the GPU · 8.4 MB back · 23.8 MiB at peak
        "#);
    }
}
