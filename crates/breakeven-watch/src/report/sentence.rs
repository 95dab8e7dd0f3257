//! The answer: how busy each GPU was, what it drew and held, what held it back, and what smaller one would do.

use super::words::{memory, watts};
use crate::gpu::Busy;
use crate::judge::judge;
use crate::reading::Field;
use crate::totals::Totals;
use breakeven::report::words::{printable, seconds, share};

/// A sentence for each GPU; one that says so where there is none.
pub fn sentences(totals: &Totals) -> Vec<String> {
    if totals.gpus.is_empty() {
        return vec!["No GPU was watched.".to_owned()];
    }
    (0..totals.gpus.len()).map(|n| sentence(totals, n)).collect()
}

/// `GPU busy 23 % of the time, 61 W of 300 W, 1.9 of 24 GiB: held back by the host; an L4 would do.`
fn sentence(totals: &Totals, n: usize) -> String {
    let (gpu, seen) = (&totals.gpus[n], &totals.seen[n]);
    let who = if totals.gpus.len() == 1 { "GPU".to_owned() } else { format!("GPU {}", printable(&gpu.label, 8)) };
    let verb = if gpu.busy == Busy::Awake { "awake" } else { "busy" };
    let mut told = match seen.stat(Field::Busy).mean() {
        Some(busy) => vec![format!("{who} {verb} {} of the time", share(busy))],
        None => vec![format!("{who} busy for an unknown share of the time")],
    };
    let of = |limit: Option<f64>| limit.map_or_else(String::new, |limit| format!(" of {}", watts(limit)));
    told.extend(seen.watts().map(|drawn| format!("{}{}", watts(drawn), of(gpu.limit_w))));
    told.extend(seen.stat(Field::Memory).most().zip(gpu.memory).map(|(used, all)| memory(used, all)));
    if let Some(at) = seen.lost_at {
        told.push(format!("lost after {}", seconds(at)));
    }
    let verdict = judge(gpu, seen);
    let mut end = verdict.held_back.words().to_owned();
    if let Some(lacks) = verdict.lacks {
        end += &format!(" ({lacks})");
    }
    let smaller = verdict.smaller.map_or_else(String::new, |name| format!("; {} {name} would do", article(&name)));
    format!("{}: {end}{smaller}.", told.join(", "))
}

/// `a T4`, `an L4`, `an A10`, `an H100`: by how the first letter is said.
fn article(name: &str) -> &'static str {
    let first = name.chars().next().unwrap_or(' ').to_ascii_uppercase();
    let word = name.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    // Letters by their names where they stand before a number (`L4`, `MI210`, `RTX 4000`); words by their sound.
    let spelled = word.len() <= 3 && word.bytes().all(|b| b.is_ascii_uppercase());
    let vowels = if spelled { "AEFHILMNORSX" } else { "AEIOU" };
    if vowels.contains(first) { "an" } else { "a" }
}

#[cfg(test)]
mod tests {
    use super::article;

    #[test]
    fn articles_follow_the_sound() {
        let names =
            ["L4", "A10", "T4", "H100 PCIe", "Instinct MI210", "RTX 4000 Ada", "Tesla V100", "Radeon PRO W6800"];
        assert_eq!(names.map(article), ["an", "an", "a", "an", "an", "an", "a", "a"]);
    }
}
