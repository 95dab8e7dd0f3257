//! Markdown for a page, a pull request, a ticket.

use super::{explain, held_back, help, rows, why, words};
use crate::estimate::Estimate;

/// The whole report; every name of other people's making is escaped.
pub fn markdown(e: &Estimate) -> String {
    let mut out = format!("**{}**\n", escape(&words::printable(&e.summary.sentence, 400)));
    let reasons: Vec<String> = held_back(e).into_iter().chain(rows::remarks(e)).collect();
    if !reasons.is_empty() {
        out += &format!("\n{}\n", escape(&reasons.join("\n")));
    }
    let gpus = rows::gpus(e, usize::MAX);
    if !gpus.is_empty() {
        out += &format!("\n{}", gpus.map(escape).markdown());
    }
    let footprint = rows::footprint(e);
    if !footprint.is_empty() {
        out += &format!("\n{}", footprint.map(escape).markdown());
    }
    let sites = rows::sites(e, usize::MAX);
    if !sites.is_empty() {
        out += &format!("\n### Hot lines\n\n{}", sites.map(escape).markdown());
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
    out += &format!("\n{}\n", escape(&rows::coverage(e)));
    out
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
        insta::assert_snapshot!(markdown(&examples::program()), @r#"
        **GPU wins on 2 of 12 GPUs. Best value: L4 — 6.2× faster \[5.0–7.8\], $0.0003 per run (CPU: $0.0019).**

        Held back by kernel launches (58 %). Fusing the 7 element-wise steps of heat.py:14 → 19× \[14–24\].
        Copying in and out at each call would take 11.1 s instead.
        Breaks even at 310×310 grid points (yours: 1024×1024).

        | device | time | speedup | cost | energy | price | bound by | basis | verdict |
        | --- | ---: | --- | ---: | ---: | ---: | --- | --- | --- |
        | CPU: AMD EPYC 7763 | 8.6 s | 1× | $0.0019 | 0.35 Wh | ? |  | measured |  |
        | L4 | 1.4 s | 6.2× \[5.0–7.8\] | $0.0003 | 0.028 Wh | $0.80/h | launch | modelled | gpu |
        | H100 SXM | 900 ms | 9.6× \[7.7–12\] | $0.0002 | 0.018 Wh | $0.80/h | launch | modelled | gpu |
        | GTX 1050 | ? | ? | ? | ? | ? |  |  | does not fit |
        | K80 | 9 s | 0.95× \[0.76–1.2\] | $0.0020 | 0.18 Wh | $0.80/h | launch | modelled | either |
        | Old 0 | 20 s | 0.4× \[0.32–0.5\] | $0.0044 | 0.4 Wh | $0.80/h | launch | modelled | cpu |
        | Old 1 | 20 s | 0.4× \[0.32–0.5\] | $0.0044 | 0.4 Wh | $0.80/h | launch | modelled | cpu |
        | Old 2 | 20 s | 0.4× \[0.32–0.5\] | $0.0044 | 0.4 Wh | $0.80/h | launch | modelled | cpu |
        | Old 3 | 20 s | 0.4× \[0.32–0.5\] | $0.0044 | 0.4 Wh | $0.80/h | launch | modelled | cpu |
        | Old 4 | 20 s | 0.4× \[0.32–0.5\] | $0.0044 | 0.4 Wh | $0.80/h | launch | modelled | cpu |
        | Old 5 | 20 s | 0.4× \[0.32–0.5\] | $0.0044 | 0.4 Wh | $0.80/h | launch | modelled | cpu |
        | Old 6 | 20 s | 0.4× \[0.32–0.5\] | $0.0044 | 0.4 Wh | $0.80/h | launch | modelled | cpu |
        | Old 7 | 20 s | 0.4× \[0.32–0.5\] | $0.0044 | 0.4 Wh | $0.80/h | launch | modelled | cpu |

        ### Hot lines

        | line | CPU | share | on L4 | bound by | verdict | code |
        | --- | ---: | ---: | ---: | --- | --- | --- |
        | heat.py:14 | 6.11 s | 71 % | 710 ms | launch | gpu | u\[1:-1, 1:-1\] += k \* lap |
        | heat.py:12 | 2.24 s | 26 % | 260 ms | launch | gpu | lap = u\[2:\] - 2 \* u\[1:-1\] + u\[:-2\] |

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
        insta::assert_snapshot!(markdown(&examples::hostile()), @r#"
        **6.2× faster \[5.0–7.8\] on �\[2J&lt;script>\|L4�: 1.4 s against 8.6 s on the CPU · $0.0003 · 0.028 Wh**

        Held back by kernel launches (58 %).
        Copying in and out at each call would take 11.1 s instead.
        Breaks even at 310×310 grid points (yours: 1024×1024).

        | device | time | speedup | cost | energy | price | bound by | basis | verdict |
        | --- | ---: | --- | ---: | ---: | ---: | --- | --- | --- |
        | CPU: CPU��GPU wins on 99 | 8.6 s | 1× | $0.0019 | 0.35 Wh | ? |  | measured |  |
        | �\[2J&lt;script>\|L4� | 1.4 s | 6.2× \[5.0–7.8\] | $0.0003 | 0.028 Wh | $0.80/h | launch | modelled | gpu |

        ### Hot lines

        | line | CPU | share | on �\[2J&lt;script>\|L4� | bound by | verdict | code |
        | --- | ---: | ---: | ---: | --- | --- | --- |
        | �\]0;gone�.py:14 | 6.11 s | 71 % | 710 ms | launch | gpu | x = \`a\|b\`  # AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA… |

        ### Why

        - **launch-bound** (58 %, a\_b\*�.py:3): \|\`�\[2J\` &lt;b> Larger arrays in fewer calls, fused element-wise chains, or one CUDA graph for steps that repeat.
          launches 40 000

        ### Notes

        - a�b \*bold\* \[link\](http://x) (`old-prices`)

        coverage: 98 % of the array time is understood · 40 000 ops · 40 000 launches · 16 GFLOP · 640 GB moved · 8.4 MB to the GPU · 8.4 MB back · 23.8 MiB at peak
        "#);
    }
}
