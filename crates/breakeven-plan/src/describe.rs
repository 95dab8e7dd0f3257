//! Options in words: how many of what, on which terms.

use crate::mix::Mix;
use crate::problem::Problem;
use crate::single::{Mode, Single};
use crate::way::Way;
use breakeven::report::words::seconds;

impl Problem<'_> {
    /// `2 L4`, `2 to 5 L4`, `8 H100 SXM5 80GB (1 p5.48xlarge)`.
    fn counted(&self, pool: usize, units: &[f64]) -> String {
        let known = &self.pools[pool];
        let name = &self.table.devices[known.device].name;
        let least = units.iter().copied().fold(f64::INFINITY, f64::min);
        let most = units.iter().copied().fold(0.0, f64::max);
        let range = |slots: f64| {
            if least < most && !known.way.is_bought() {
                format!("{} to {}", least * slots, most * slots)
            } else {
                format!("{}", most * slots)
            }
        };
        if known.slots > 1.0 && !known.instance.is_empty() {
            return format!("{} {name} ({} {})", range(known.slots), range(1.0), known.instance);
        }
        format!("{} {name}", range(known.slots))
    }

    /// On what terms: `on demand`, `spot`, `reserved`; nothing for what is bought or a CPU.
    fn terms(&self, way: Way) -> &'static str {
        let all_bear = self.works().all(|(_, w)| w.interruptible);
        match way {
            Way::Spot if all_bear => " (spot)",
            Way::Spot => " (spot where interruptions allow)",
            Way::Marketplace => " (marketplace)",
            Way::OnDemand => " (on demand)",
            Way::Reserved => " (reserved)",
            Way::Workstation => " (workstation)",
            Way::Server => " (server)",
            Way::Cluster => " of the cluster",
            Way::Cpu => "",
        }
    }

    /// A single kind in words.
    pub fn words_of(&self, single: &Single) -> String {
        let pool = &self.pools[single.pool];
        let terms = self.terms(pool.way);
        match &single.mode {
            Mode::Kept(kept) => {
                let units: Vec<f64> = kept.iter().map(|k| k.units).collect();
                format!("{}{terms}", self.counted(single.pool, &units))
            }
            Mode::Batches(all) => {
                let most = all.iter().flat_map(|(_, sessions)| sessions.iter().map(|s| s.machines)).fold(1.0, f64::max);
                format!("{}{terms} by the hour", self.counted(single.pool, &[most]))
            }
        }
    }

    /// A mix in words: what is bought, and what is rented.
    pub fn words_of_mix(&self, mix: &Mix) -> [String; 2] {
        let [mut bought, mut rented] = [Vec::new(), Vec::new()];
        for part in &mix.parts {
            let way = self.pools[part.pool].way;
            let text = format!("{}{}", self.counted(part.pool, &part.units), self.terms(way));
            if way.is_bought() { bought.push(text) } else { rented.push(text) }
        }
        let mut by_hour: Vec<(usize, Vec<usize>)> = Vec::new();
        for (work, pool) in &mix.batches {
            match by_hour.iter_mut().find(|(known, _)| known == pool) {
                Some((_, works)) => works.push(*work),
                None => by_hour.push((*pool, vec![*work])),
            }
        }
        let everything = mix.parts.is_empty() && by_hour.len() == 1;
        for (pool, works) in by_hour {
            let known = &self.pools[pool];
            let machines = works.iter().filter_map(|work| {
                let service = self.service(*work, known, crate::At::P50).ok()?;
                let sessions = self.batches(known, *work, &service).ok()?.0;
                Some(sessions.iter().map(|s| s.machines).fold(1.0, f64::max))
            });
            let most = machines.fold(1.0, f64::max);
            let names: Vec<&str> = works.iter().map(|work| self.plan.works[*work].name.as_str()).collect();
            let what = match names.len() {
                _ if everything => String::new(),
                1..=3 => format!(" for {}", names.join(", ")),
                n => format!(" for {n} workloads"),
            };
            rented.push(format!("{}{} by the hour{what}", self.counted(pool, &[most]), self.terms(known.way)));
        }
        [bought.join(" + "), rented.join(" + ")]
    }
}

/// Money: `$310`, `EUR 310`; cents below ten.
pub(crate) fn money(x: f64, currency: &str) -> String {
    let sign = if currency == "USD" { "$".to_owned() } else { format!("{currency} ") };
    let minus = if x < -0.005 { "−" } else { "" };
    let x = x.abs();
    if x > 0.0 && x < 0.005 {
        return format!("<{sign}0.01");
    }
    let text = if x < 100.0 { format!("{x:.2}") } else { thousands(x.round()) };
    format!("{minus}{sign}{text}")
}

/// Money to the cent: `$1,234.56`.
pub(crate) fn cents(x: f64, currency: &str) -> String {
    let sign = if currency == "USD" { "$".to_owned() } else { format!("{currency} ") };
    let hundredths = (x.abs() * 100.0).round();
    let minus = if x < 0.0 && hundredths > 0.0 { "−" } else { "" };
    format!("{minus}{sign}{}.{:02}", thousands(libm::floor(hundredths / 100.0)), hundredths % 100.0)
}

fn thousands(x: f64) -> String {
    let digits = format!("{x:.0}");
    let mut out = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A duration; `none` for 0.
pub(crate) fn span(x: f64) -> String {
    if x < 1e-3 { "0 s".to_owned() } else { seconds(x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_told_to_what_counts() {
        assert_eq!([money(310.4, "USD"), money(9.5, "EUR"), money(0.001, "USD")], ["$310", "EUR 9.50", "<$0.01"]);
        assert_eq!(
            [cents(1_234.565, "USD"), cents(-0.5, "USD"), cents(1e6, "EUR")],
            ["$1,234.57", "−$0.50", "EUR 1,000,000.00"]
        );
    }
}
