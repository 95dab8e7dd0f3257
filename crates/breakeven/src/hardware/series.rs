//! What a name says of a device that the catalogue lacks: its maker, its line and its year; and what is nearest in kind.
//!
//! `K620` is an NVIDIA workstation card of 2014: a Quadro of 2017 and a Tesla K80 are near to it, an Arc Pro B60 is not,
//! though it has more letters in common.

use super::find::{BRANDS, NOISE, SIBLINGS, words};
use super::table::{for_each_row, shown};
use std::sync::OnceLock;

const SERIES: &str = include_str!("../../catalogue/series.csv");
const HEADER: [&str; 6] = ["device", "vendor", "line", "names", "year", "modulo"];

/// A different line of products (workstation cards, data-centre GPUs) counts like so many years.
const OTHER_LINE_YEARS: f64 = 5.0;
/// Another line that is also made for people's own desks and bags.
const OTHER_CONSUMER_LINE_YEARS: f64 = 3.0;
/// Twice the number within one line (`T1000` to `A2000`) counts like ln 2 of so many years.
const NUMBER_YEARS: f64 = 1.5;
/// A name whose number does not tell its place (`TITAN V`) counts like one that is so many years away.
const NO_NUMBER_YEARS: f64 = 2.0;
/// The same line made for laptops.
const LAPTOP_YEARS: f64 = 1.5;
/// A suffix that only one of two names has: `Ti`, `SUPER`.
const SUFFIX_YEARS: f64 = 0.2;
/// What is further away than the nearest by more years than this is not named.
const REACH_YEARS: f64 = 3.0;
/// How many are named at most.
const NAMED: usize = 3;

/// Words that may stand before a name that is one letter and a number: `Quadro K620`, `GRID M60`.
const LEADING: [&str; 8] = ["quadro", "rtx", "grid", "hgx", "dgx", "arc", "pro", "epyc"];
/// Lines for people's own computers.
const CONSUMER: [&str; 4] = ["GeForce", "Radeon", "Arc", "integrated graphics"];
/// Words for the GPU of a laptop.
const LAPTOP: [&str; 5] = ["laptop", "mobile", "notebook", "max q", "m"];

/// A group of devices whose numbers mean the same.
struct Series {
    device: String,
    vendor: String,
    line: String,
    /// Names as tokens; `?` in a token is any digit.
    names: Vec<Vec<String>>,
    year: f64,
    /// The number's remainder by this says the place in the line: `rtx 3080` by 100 is 0.8. Below 1 it is that place
    /// itself (a TITAN), 0 where nothing tells it.
    modulo: f64,
}

/// What a name says of a device.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kind {
    /// `NVIDIA`.
    pub(super) vendor: String,
    /// `GeForce`, `laptop GeForce`, `workstation card`.
    pub(super) line: String,
    /// When it came out, or its series did.
    pub(super) year: f64,
    /// Its place in its line, from 0 to 1: 0.8 of `rtx 3080`. `None` where its number does not tell.
    tier: Option<f64>,
    suffixes: Vec<String>,
}

/// A device to choose from: its id, its spellings and its year, where the catalogue has it.
pub(super) struct Candidate<'c> {
    pub(super) id: &'c str,
    pub(super) spellings: Vec<&'c str>,
    pub(super) year: Option<u32>,
}

fn all() -> &'static [Series] {
    static READ: OnceLock<Vec<Series>> = OnceLock::new();
    READ.get_or_init(|| {
        let mut all = Vec::new();
        for_each_row("series.csv", SERIES, &[&HEADER], |_, row| {
            let number = |n| row.number(n, || HEADER[n].to_owned(), &(0.0..=1e5));
            let names = row.text(3).split(';').map(|name| name.split(' ').map(str::to_owned).collect());
            let (names, [device, vendor, line]) = (names.collect(), [0, 1, 2].map(|n| row.text(n).to_owned()));
            all.push(Series { device, vendor, line, names, year: number(4)?, modulo: number(5)? });
            Ok(())
        })
        .expect("the tests read this very text");
        all
    })
}

/// The tokens of a name: its words but those that say nothing, taken apart where letters and digits meet. `RTX3080Ti` is `rtx`, `3080`, `ti`.
fn tokens(name: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for word in words(name).into_iter().filter(|word| !NOISE.contains(&word.as_str())) {
        let mut last = None;
        for c in word.chars() {
            let digit = c.is_ascii_digit();
            match tokens.last_mut() {
                Some(token) if last == Some(digit) => token.push(c),
                _ => tokens.push(c.to_string()),
            }
            last = Some(digit);
        }
    }
    tokens
}

/// Whether a token is what the pattern allows: letters as they are, `?` for one digit.
fn fits(pattern: &str, token: &str) -> bool {
    pattern.len() == token.len()
        && pattern.bytes().zip(token.bytes()).all(|(p, t)| p == t || p == b'?' && t.is_ascii_digit())
}

/// Where in the tokens the name of a series stands. One that begins with a number or a single letter has to stand first
/// or behind a brand: the `m 2` of `RTX 4090 M2` is no Apple M2. The names of CPUs have more before a letter (`11th Gen
/// Intel Core i7`).
fn place(device: &str, pattern: &[String], tokens: &[String]) -> Option<usize> {
    let leads = |token: &String| [&BRANDS[..], &LEADING].iter().any(|list| list.contains(&token.as_str()));
    let led = tokens.iter().take_while(|token| leads(token)).count();
    let short =
        device == "gpu" && pattern[0].len() == 1 || pattern[0].starts_with(|c: char| c == '?' || c.is_ascii_digit());
    let last = tokens.len().checked_sub(pattern.len())?;
    let here = |at: &usize| pattern.iter().zip(&tokens[*at..]).all(|(p, t)| fits(p, t));
    (0..=if short { last.min(led) } else { last }).find(here)
}

/// What `name` says, if it is a name of a series. `device` is `gpu` or `cpu`.
pub(super) fn kind(device: &str, name: &str) -> Option<Kind> {
    let tokens = tokens(name);
    all().iter().filter(|series| series.device == device).find_map(|series| {
        let (at, pattern) = series.names.iter().find_map(|p| Some((place(device, p, &tokens)?, p)))?;
        let of_name = &tokens[at..at + pattern.len()];
        // The number with digits left open is the model's: 2686 of `e ? ???? v 4`.
        let both = || pattern.iter().zip(of_name).rev();
        let number = both().find(|(p, _)| p.contains('?')).or_else(|| both().find(|(_, t)| t.parse::<u32>().is_ok()));
        let number = number.and_then(|(_, token)| token.parse::<f64>().ok()).filter(|_| series.modulo > 1.0);
        let fixed = Some(series.modulo).filter(|place| *place < 1.0);
        let tier = fixed.or(number.map(|n| n % series.modulo / series.modulo)).filter(|tier| *tier > 0.0);
        let behind = &tokens[at + pattern.len()..];
        let spelled = behind.join(" ");
        // `M` is a laptop's right behind the number: `GTX 960M`.
        let laptop = LAPTOP.iter().any(|word| match *word {
            "m" => behind.first().is_some_and(|token| token == "m"),
            word => spelled.contains(word),
        });
        let laptop = laptop && matches!(series.line.as_str(), "GeForce" | "Radeon");
        let line = if laptop { format!("laptop {}", series.line) } else { series.line.clone() };
        let mut suffixes: Vec<_> = behind.iter().filter(|t| SIBLINGS.contains(&t.as_str())).cloned().collect();
        suffixes.sort();
        Some(Kind { vendor: series.vendor.clone(), line, year: series.year, tier, suffixes })
    })
}

/// How far apart two devices are, in years: those between them, and what line, place in the line and suffixes count for.
/// `None` for another maker's.
fn distance(a: &Kind, b: &Kind) -> Option<f64> {
    if a.vendor != b.vendor {
        return None;
    }
    let base = |kind: &Kind| kind.line.trim_start_matches("laptop ").to_owned();
    let consumer = |kind: &Kind| CONSUMER.contains(&base(kind).as_str());
    let line = match a.line == b.line {
        true => 0.0,
        false if base(a) == base(b) => LAPTOP_YEARS,
        false if consumer(a) && consumer(b) => OTHER_CONSUMER_LINE_YEARS,
        false => OTHER_LINE_YEARS,
    };
    let tier = match (a.tier, b.tier) {
        _ if base(a) != base(b) => 0.0,
        (Some(x), Some(y)) => NUMBER_YEARS * libm::log(x / y).abs(),
        (None, None) => 0.0,
        _ => NO_NUMBER_YEARS,
    };
    let only = |x: &Kind, y: &Kind| x.suffixes.iter().filter(|s| !y.suffixes.contains(s)).count();
    let suffixes = (only(a, b) + only(b, a)) as f64;
    Some((a.year - b.year).abs() + line + tier + suffixes * SUFFIX_YEARS)
}

/// What is said of a name that is not in the catalogue: the devices nearest in kind, or else in letters. `None` where
/// there is no such.
pub(super) fn nearest(device: &str, name: &str, candidates: &[Candidate<'_>]) -> Option<String> {
    let Some(given) = kind(device, name) else {
        let near = nearest_in_letters(name, candidates);
        return (!near.is_empty()).then(|| format!("nearest are {}", near.join(", ")));
    };
    let mut by_distance: Vec<(f64, bool, String)> = candidates
        .iter()
        .filter_map(|candidate| {
            let kind = candidate.spellings.iter().find_map(|spelling| kind(device, spelling))?;
            let year = candidate.year.map_or(kind.year, f64::from);
            Some((distance(&given, &kind)?, kind.line == given.line, format!("{} ({year})", candidate.id)))
        })
        .collect();
    // A stable sort: equals stay in the order of the catalogue.
    by_distance.sort_by(|a, b| a.0.total_cmp(&b.0));
    let reach = by_distance.first()?.0 + REACH_YEARS;
    by_distance.retain(|(far, ..)| *far <= reach);
    // One of them is of the same line: `K620` names a Quadro beside a GeForce and a Tesla of its year.
    if let Some(same) = by_distance.iter().position(|(_, same_line, _)| *same_line).filter(|at| *at >= NAMED) {
        by_distance.swap(NAMED - 1, same);
    }
    let near: Vec<String> = by_distance.into_iter().take(NAMED).map(|(_, _, shown)| shown).collect();
    let Kind { vendor, line, year, .. } = given;
    Some(format!("nearest in kind to {} ({vendor} {line}, about {year}): {}", shown(name), near.join(", ")))
}

/// Ids of the devices spelled most like `name`, for slips of the pen: a letter in three may be another.
fn nearest_in_letters<'c>(name: &str, candidates: &[Candidate<'c>]) -> Vec<&'c str> {
    let bare = |name: &str| -> String {
        words(name).iter().map(String::as_str).filter(|w| !BRANDS.contains(w) && !NOISE.contains(w)).collect()
    };
    let given: String = bare(name).chars().take(40).collect();
    let mut by_distance: Vec<(usize, &str)> = candidates
        .iter()
        .filter_map(|candidate| {
            let least = candidate.spellings.iter().map(|s| strsim::levenshtein(&given, &bare(s))).min()?;
            (least <= given.chars().count() / 3).then_some((least, candidate.id))
        })
        .collect();
    by_distance.sort();
    by_distance.into_iter().take(NAMED).map(|(_, id)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::Catalogue;
    use proptest::prelude::*;

    #[test]
    fn every_device_of_the_catalogue_is_of_a_series() {
        for gpu in Catalogue::embedded().gpus() {
            let kinds: Vec<_> = gpu.spellings().filter_map(|name| kind("gpu", name)).collect();
            let [first, ..] = kinds.as_slice() else { panic!("{} is of no series", gpu.id()) };
            let year = gpu.device.year.map_or(first.year, f64::from);
            assert!((first.year - year).abs() <= 3.0, "{}: {first:?}, {year}", gpu.id());
            let vendor = gpu.figure("vendor").and_then(|f| f.text()).unwrap();
            assert!(kinds.iter().all(|k| k.vendor == vendor && k.line == first.line), "{}: {kinds:?}", gpu.id());
        }
        let rented = ["aws-", "gcp-", "azure-", "colab-"];
        for cpu in Catalogue::embedded().cpus() {
            let (id, kinds) = (&cpu.device.id, cpu.spellings().filter_map(|name| kind("cpu", name)).count());
            assert!(kinds > 0 || rented.iter().any(|cloud| id.starts_with(cloud)), "{id} is of no series");
        }
    }

    #[test]
    fn names_say_maker_line_and_year() {
        for (name, said) in [
            ("K620", "NVIDIA workstation card 2014"),
            ("Quadro K2000M", "NVIDIA workstation card 2014"),
            ("NVIDIA Quadro M4000", "NVIDIA workstation card 2015"),
            ("Tesla K20Xm", "NVIDIA data-centre GPU 2014"),
            ("Tesla M4", "NVIDIA data-centre GPU 2015"),
            ("M4 Pro", "Apple M series 2024"),
            ("NVIDIA T1000 8GB", "NVIDIA workstation card 2020"),
            ("T4", "NVIDIA data-centre GPU 2018"),
            ("RTX A3000 Laptop GPU", "NVIDIA workstation card 2021"),
            ("RTX 5000 Ada Generation", "NVIDIA workstation card 2023"),
            ("gtx 960m", "NVIDIA laptop GeForce 2014"),
            ("GeForce RTX 3070 Laptop GPU", "NVIDIA laptop GeForce 2020"),
            ("GTX1660Ti with Max-Q Design", "NVIDIA laptop GeForce 2019"),
            ("mx450", "NVIDIA laptop GeForce 2019"),
            ("gt 1030", "NVIDIA GeForce 2016"),
            ("1030", "NVIDIA GeForce 2016"),
            ("GTX 680", "NVIDIA GeForce 2012"),
            ("H20", "NVIDIA data-centre GPU 2024"),
            ("rx 580", "AMD Radeon 2017"),
            ("Radeon RX 6600 XT", "AMD Radeon 2020"),
            ("rx9070xt", "AMD Radeon 2025"),
            ("AMD Radeon HD 7970", "AMD Radeon 2011"),
            ("AMD Radeon 780M Graphics", "AMD integrated graphics 2023"),
            ("Vega 8", "AMD integrated graphics 2018"),
            ("Vega 64", "AMD Radeon 2017"),
            ("MI50", "AMD Instinct 2018"),
            ("hd 530", "Intel integrated graphics 2015"),
            ("Intel(R) UHD Graphics 770", "Intel integrated graphics 2021"),
            ("Intel(R) Iris(R) Xe Graphics", "Intel integrated graphics 2021"),
            ("A380", "Intel Arc 2022"),
            ("Apple M3 Pro", "Apple M series 2023"),
            ("Jetson Nano", "NVIDIA Jetson 2019"),
        ] {
            let k = kind("gpu", name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(format!("{} {} {}", k.vendor, k.line, k.year), said, "{name}");
        }
        for (name, said) in [
            ("Intel(R) Core(TM) i9-14900KF", "Intel Core 2023"),
            ("Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz", "Intel Core 2018"),
            ("11th Gen Intel(R) Core(TM) i5-1135G7 @ 2.40GHz", "Intel Core 2021"),
            ("Intel(R) Xeon(R) CPU E5-2670 v3 @ 2.30GHz", "Intel Xeon 2014"),
            ("Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", "Intel Xeon 2021"),
            ("AMD Ryzen 7 5800X3D 8-Core Processor", "AMD Ryzen 2020"),
            ("AMD EPYC 7543P 32-Core Processor", "AMD EPYC 2021"),
            ("AMD EPYC 7R32", "AMD EPYC 2019"),
            ("AMD Ryzen Threadripper 3970X 32-Core Processor", "AMD Threadripper 2020"),
            ("Apple M1 Pro", "Apple M series 2020"),
            ("AWS Graviton2", "Arm server 2020"),
        ] {
            let k = kind("cpu", name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(format!("{} {} {}", k.vendor, k.line, k.year), said, "{name}");
        }
        for name in ["Adreno 740", "Mali-G78", "zx81", "", "iPhone A17 Pro", "my card"] {
            assert_eq!(kind("gpu", name), None, "{name}");
        }
    }

    /// Ids of the GPUs named for a name that the catalogue has not.
    fn near(name: &str) -> Vec<String> {
        let hint = Catalogue::embedded().find_gpu(name).unwrap_err().hint.unwrap();
        let list = hint.split("): ").nth(1).unwrap_or_default().split(';').next().unwrap_or_default().to_owned();
        list.split(", ").filter_map(|near| Some(near.split_once(" (")?.0.to_owned())).collect()
    }

    #[test]
    fn the_nearest_are_of_the_same_maker_and_kind() {
        for (name, ids) in [
            ("K620", "gtx-750 k80 quadro-p4000"),
            ("P2000", "quadro-p4000 quadro-rtx-4000 quadro-rtx-5000"),
            ("T1000", "rtx-a2000-12gb rtx-a4000 rtx-a4500"),
            ("RTX 3500 Ada", "rtx-4000-ada rtx-4000-sff-ada rtx-4500-ada"),
            ("gt 1030", "gtx-1050-ti gtx-1060-6gb gtx-1070"),
            ("gtx 980", "gtx-750 titan-x-maxwell gtx-1080"),
            ("gtx 1650 super", "gtx-1650 gtx-1660-super gtx-1660"),
            ("GTX 1070 Ti", "gtx-1070 gtx-1080-ti gtx-1080"),
            ("rtx 3050 ti", "rtx-3050-8gb rtx-3060-ti rtx-3060-12gb"),
            ("rtx 3080 laptop", "rtx-3080-10gb rtx-3090 rtx-4080-laptop"),
            ("mx450", "gtx-1650 gtx-1660 rtx-4050-laptop"),
            ("M60", "m40-12gb k80 p40"),
            ("H30", "a30 a40 l40"),
            ("MI50", "mi100 mi210 mi250x"),
            ("rx 580", "rx-6900-xt rx-7900-xtx"),
            ("rx 6600 xt", "rx-6900-xt rx-7900-xtx"),
            ("hd 530", "arc-a770-16gb arc-b580 arc-pro-b60"),
            ("A380", "arc-a770-16gb arc-b570 arc-b580"),
            ("M3 Pro", "m3-ultra-80-core m4-10-core m4-pro-20-core"),
            ("Jetson Nano", "jetson-agx-orin-64gb jetson-orin-nx-16gb jetson-orin-nano-8gb-super"),
        ] {
            assert_eq!(near(name).join(" "), ids, "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_name_panics(name in any::<String>()) {
            let _ = (kind("gpu", &name), kind("cpu", &name));
        }

        #[test]
        fn nearest_gpus_are_of_the_maker(
            name in "(gtx|rtx|gt|mx|quadro k|quadro m|quadro p|rx|radeon rx|mi|arc a|hd|uhd) ?[1-9][0-9]{2,3}( ?ti)?"
        ) {
            let given = kind("gpu", &name);
            if let (Some(given), Err(_)) = (given, Catalogue::embedded().find_gpu(&name)) {
                let near = near(&name);
                prop_assert!(!near.is_empty());
                for id in near {
                    prop_assert_eq!(&kind("gpu", &id).unwrap().vendor, &given.vendor, "{}", id);
                }
            }
        }
    }
}
