//! CPUs: the other side of every comparison, and the hosts of GPUs.

use super::figure::Figure;
use super::find::{key, words};
use super::gpu::vendor;
use super::series::{Candidate, nearest};
use super::table::shown;
use super::{Catalogue, Device, DeviceKind, Peaks, Vendor};
use crate::units::{Bytes, BytesPerSec, FlopPerSec, Hertz, Watts};
use crate::{Error, Result};

/// What every CPU needs, so that it can be compared with at all.
pub(super) const REQUIRED: [&str; 6] = ["name", "cores", "base", "boost", "fp64_per_cycle", "bandwidth"];

/// Longer than any name of a CPU; keeps hostile names cheap.
const MAX_NAME: usize = 200;
/// What to do where no name is near.
const EVERY: &str = "`breakeven cpus` lists every name, --cpu-rate gives a rate instead, --catalogue adds your own";

/// Clock of a CPU of which none is known: a common desktop's.
pub(crate) const COMMON_CLOCK: Hertz = Hertz(3.5e9);

/// One CPU, or the share of one that a cloud rents out.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu {
    /// As the models see it. Its memory is not limited by the CPU and counts as unbounded.
    pub device: Device,
    /// Hardware threads.
    pub threads: u32,
    figures: Vec<Figure>,
}

impl Cpu {
    /// Every figure with its source; empty for a CPU that is assumed.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// A CPU of which only the number of cores and the clock are known: AVX2 with two FMA units, 8 GB/s of memory
    /// bandwidth a core from 30 up to 200, 2 MiB of cache and 8 W a core. Its basis is `assumed`.
    pub fn generic(cores: u32, clock: Hertz) -> Self {
        let n = f64::from(cores);
        let peaks = peaks(FlopPerSec(n * 16.0 * clock.get()));
        let mut device =
            blank("generic-cpu", &format!("CPU with {cores} cores at {:.1} GHz", clock.get() / 1e9), peaks);
        device.units = Some(cores);
        device.boost = Some(clock);
        device.bandwidth = BytesPerSec::gb_per_s((8.0 * n).clamp(30.0, 200.0));
        device.cache = Some(Bytes::mib(2.0 * n));
        device.tdp = Some(Watts(8.0 * n));
        Self { device, threads: cores, figures: Vec::new() }
    }

    /// The same with a last cache of so many bytes, where that is not 0, and with vectors of 512 bits, if they are so `wide`:
    /// Zen 4 takes two cycles for one of them, Zen 5 and Intel's server cores one; what lies between is assumed.
    pub(crate) fn with(mut self, cache: Bytes, wide: bool) -> Self {
        if cache.get() > 0.0 {
            self.device.cache = Some(cache);
        }
        if wide {
            self.device.peaks =
                peaks(self.device.peaks.f64_vector.map_or(FlopPerSec(0.0), |rate| rate * core::f64::consts::SQRT_2));
        }
        self
    }

    pub(super) fn new(id: &str, figures: Vec<Figure>) -> Self {
        let find = |name: &str| figures.iter().find(|f| f.kind.name == name);
        let number = |name: &str| find(name).and_then(Figure::number);
        let text = |name: &str| find(name).and_then(Figure::text).unwrap_or_default();
        // No maker publishes the clock that all cores hold: the middle of base and boost.
        let rate = |cores: &str, per_cycle: &str, base: &str, boost: &str| {
            let clock = 1e6 * (number(base)? + number(boost)?) / 2.0;
            Some(number(cores)? * number(per_cycle)? * clock)
        };
        let efficiency = ["efficiency_cores", "efficiency_fp64_per_cycle", "efficiency_base", "efficiency_boost"];
        let [cores, per_cycle, base, boost] = efficiency;
        let f64_rate = rate("cores", "fp64_per_cycle", "base", "boost").unwrap_or_default()
            + rate(cores, per_cycle, base, boost).unwrap_or_default();
        let mut device = blank(id, text("name"), peaks(FlopPerSec(f64_rate)));
        device.vendor = vendor(text("vendor"));
        device.architecture = text("architecture").to_owned();
        let all_cores = number("cores").unwrap_or_default() + number("efficiency_cores").unwrap_or_default();
        device.units = Some(all_cores as u32);
        device.boost = number("boost").map(|mhz| Hertz(mhz * 1e6));
        device.bandwidth = BytesPerSec::gb_per_s(number("bandwidth").unwrap_or_default());
        device.cache = number("last_level_cache").map(Bytes::mib);
        device.tdp = number("tdp").map(Watts);
        Self { device, threads: number("threads").unwrap_or(all_cores) as u32, figures }
    }

    pub(crate) fn spellings(&self) -> impl Iterator<Item = &str> {
        let aliases = self.figures.iter().filter(|f| f.kind.name == "alias").filter_map(Figure::text);
        [self.device.id.as_str(), self.device.name.as_str()].into_iter().chain(aliases)
    }
}

impl Catalogue {
    /// Every CPU, in the order of the catalogue.
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// The CPU that `name` stands for: an id, a marketing name, a cloud's machine type, or what `/proc/cpuinfo` says.
    ///
    /// # Errors
    /// A name that matches no CPU or several, with the nearest as a hint.
    ///
    /// ```
    /// let catalogue = breakeven::hardware::Catalogue::embedded();
    /// assert_eq!(catalogue.find_cpu("AMD EPYC 7R13 Processor")?.device.id, "epyc-7r13");
    /// let rented = catalogue.find_cpu("Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz")?;
    /// assert_eq!(rented.device.id, "xeon-platinum-8259cl");
    /// let error = catalogue.find_cpu("Intel(R) Core(TM) i9-14900KF").unwrap_err();
    /// assert!(error.hint.unwrap().contains("core-i9-14900k"));
    /// # Ok::<(), breakeven::Error>(())
    /// ```
    pub fn find_cpu(&self, name: &str) -> Result<&Cpu> {
        match self.find_cpus(name)?.as_slice() {
            [cpu] => Ok(cpu),
            several => {
                let ids: Vec<_> = several.iter().take(8).map(|cpu| cpu.device.id.as_str()).collect();
                Err(Error::new("unknown-cpu", format!("{} names {} CPUs", shown(name), several.len()))
                    .hint(format!("one of {}", ids.join(", "))))
            }
        }
    }

    /// A machine's CPU, as far as its name tells, else by its threads, its last cache and whether its vectors have 512 bits;
    /// `None` where nothing is known.
    ///
    /// ```
    /// use breakeven::units::Bytes;
    /// let catalogue = breakeven::hardware::Catalogue::embedded();
    /// let known = catalogue.cpu_of("AMD EPYC 7763", 8, Bytes::ZERO, false).unwrap();
    /// assert_eq!(known.device.id, "epyc-7763");
    /// let unknown = catalogue.cpu_of("Some CPU", 8, Bytes::ZERO, false).unwrap();
    /// assert_eq!((unknown.device.id.as_str(), unknown.threads), ("generic-cpu", 8));
    /// assert!(catalogue.cpu_of("Some CPU", 0, Bytes::ZERO, false).is_none());
    /// ```
    pub fn cpu_of(&self, name: &str, threads: u32, cache: Bytes, wide: bool) -> Option<Cpu> {
        if let Ok(cpu) = self.find_cpu(name) {
            return Some(cpu.clone());
        }
        (threads > 0).then(|| Cpu::generic(threads.min(1024), COMMON_CLOCK).with(cache, wide))
    }

    /// Every CPU that `name` stands for: one, or all those whose names have its words in them (`EPYC`).
    ///
    /// # Errors
    /// A name that matches no CPU, with the nearest as a hint.
    ///
    /// ```
    /// let catalogue = breakeven::hardware::Catalogue::embedded();
    /// assert!(catalogue.find_cpus("epyc")?.len() > 3);
    /// # Ok::<(), breakeven::Error>(())
    /// ```
    pub fn find_cpus(&self, name: &str) -> Result<Vec<&Cpu>> {
        if name.len() > MAX_NAME {
            let message = format!("the CPU name {} has {} bytes: {MAX_NAME} are allowed", shown(name), name.len());
            return Err(Error::new("unknown-cpu", message).hint(EVERY));
        }
        let given = telling(name);
        // `Intel(R) Xeon(R) Processor`, as virtual machines call theirs, is no model.
        let model = given.iter().any(|word| word.bytes().any(|b| b.is_ascii_digit()));
        let same = |s: &str| key(&words(s)) == key(&words(name)) || model && telling(s) == given;
        if let Some(cpu) = self.cpus.iter().find(|cpu| cpu.spellings().any(same)).filter(|_| !given.is_empty()) {
            return Ok(vec![cpu]);
        }
        // Part of a name is enough: `7763`, `i7-12700H`.
        let part_of = |cpu: &&Cpu| cpu.spellings().any(|s| given.iter().all(|word| telling(s).contains(word)));
        let found: Vec<_> = self.cpus.iter().filter(part_of).filter(|_| !given.is_empty()).collect();
        if found.is_empty() { Err(self.unknown_cpu(name)) } else { Ok(found) }
    }

    fn unknown_cpu(&self, name: &str) -> Error {
        let all = self.cpus.iter().map(|cpu| Candidate {
            id: &cpu.device.id,
            spellings: cpu.spellings().collect(),
            year: None,
        });
        let near = nearest("cpu", name, &all.collect::<Vec<_>>());
        let hint = near.map_or(EVERY.to_owned(), |near| format!("{near}; {EVERY}"));
        Error::new("unknown-cpu", format!("no CPU of the catalogue is called {}", shown(name))).hint(hint)
    }
}

/// The words of a CPU's name that tell it from others: makers, `CPU`, `16-Core Processor`, `12th Gen` and what follows
/// an `@` do not.
fn telling(name: &str) -> Vec<String> {
    const SAYS_NOTHING: [&str; 11] =
        ["intel", "amd", "aws", "nvidia", "cpu", "processor", "core", "cores", "gen", "with", "r"];
    let nth = |w: &str| w.ends_with("th") && w.trim_end_matches("th").bytes().all(|b| b.is_ascii_digit());
    let name = name.split('@').next().unwrap_or_default();
    let mut words = words(name);
    // `16-Core`: the number goes with the word.
    while let Some(at) = words.iter().position(|w| w == "core" || w == "cores") {
        words.remove(at);
        if at > 0 && words[at - 1].bytes().all(|b| b.is_ascii_digit()) && words.len() > 1 {
            words.remove(at - 1);
        }
    }
    words.retain(|w| !SAYS_NOTHING.contains(&w.as_str()) && !nth(w));
    words
}

/// Vector rates that follow from the double-precision one; a CPU has no tensor unit here.
fn peaks(f64_vector: FlopPerSec) -> Peaks {
    Peaks { f64_vector: Some(f64_vector), f32_vector: Some(f64_vector * 2.0), ..Peaks::default() }
}

fn blank(id: &str, name: &str, peaks: Peaks) -> Device {
    Device {
        id: id.to_owned(),
        name: name.to_owned(),
        kind: DeviceKind::Cpu,
        vendor: Vendor::Other,
        architecture: String::new(),
        year: None,
        announced: false,
        units: None,
        cores_per_unit: None,
        boost: None,
        compute_capability: None,
        peaks,
        memory: Bytes(f64::INFINITY),
        bandwidth: BytesPerSec::ZERO,
        cache: None,
        shared_per_unit: None,
        host_link: None,
        unified_memory: true,
        tdp: None,
        idle: None,
        context_idle: None,
        measured: None,
        copies: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::catalogue::sources;
    use proptest::prelude::*;

    fn cpus() -> &'static [Cpu] {
        Catalogue::embedded().cpus()
    }

    fn find_cpu(name: &str) -> Result<&'static Cpu> {
        Catalogue::embedded().find_cpu(name)
    }

    #[test]
    fn every_cpu_can_be_estimated() {
        let sources = sources();
        assert!(cpus().len() >= 37);
        for cpu in cpus() {
            let d = &cpu.device;
            let per_core = d.peaks.f64_vector.unwrap().get() / f64::from(d.units.unwrap());
            assert!((1e10..4e11).contains(&per_core), "{}: {per_core}", d.id);
            assert!(d.bandwidth.get() >= 5e9, "{}", d.id);
            assert!(d.boost.is_some() && !d.name.is_empty() && cpu.threads >= d.units.unwrap(), "{}", d.id);
            for figure in cpu.figures() {
                assert!(sources.iter().any(|s| *s.id == *figure.source), "{} {}", d.id, figure.source);
            }
        }
    }

    #[test]
    fn the_peak_is_cores_times_flop_times_the_middle_clock() {
        // 8 P-cores × 16 × (3.2 + 6.0)/2 GHz + 16 E-cores × 8 × (2.4 + 4.4)/2 GHz.
        let i9 = find_cpu("core-i9-14900k").unwrap();
        assert!((i9.device.peaks.f64_vector.unwrap().get() - 1.024e12).abs() < 1e6);
        let generic = Cpu::generic(4, Hertz(3e9));
        assert_eq!(generic.device.peaks.f32_vector, Some(FlopPerSec(384e9)));
    }

    #[test]
    fn names_as_people_and_kernels_write_them() {
        for (name, id) in [
            ("AMD EPYC 7R13 Processor", "epyc-7r13"),
            ("7r13", "epyc-7r13"),
            ("AMD EPYC 9654 96-Core Processor", "epyc-9654"),
            ("AMD Ryzen 9 7950X 16-Core Processor", "ryzen-9-7950x"),
            ("Ryzen 7 5800X", "ryzen-7-5800x"),
            ("12th Gen Intel(R) Core(TM) i7-12700H", "core-i7-12700h"),
            ("i7-12700H", "core-i7-12700h"),
            ("11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz", "core-i7-1165g7"),
            ("Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", "xeon-e5-2686-v4"),
            ("Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz", "xeon-platinum-8275cl"),
            ("INTEL XEON PLATINUM 8480+", "xeon-platinum-8480"),
            ("Apple M1", "apple-m1"),
            ("Apple M2 Max", "apple-m2-max"),
            ("AWS Graviton3", "graviton3"),
            ("g5.xlarge", "aws-g5-xlarge"),
            ("p4d.24xlarge", "aws-p4d-24xlarge"),
            ("Colab", "colab-free"),
            ("Intel(R) Xeon(R) CPU @ 2.20GHz", "colab-free"),
        ] {
            assert_eq!(find_cpu(name).map(|cpu| cpu.device.id.as_str()), Ok(id), "{name}");
        }
    }

    #[test]
    fn what_is_another_chip_is_not_matched() {
        for name in [
            "Apple M1 Max",
            "Intel(R) Core(TM) i9-14900KF",
            "AMD Ryzen 7 5800X3D 8-Core Processor",
            "Intel(R) Xeon(R) Processor",
            "",
            "cpu",
            "\0",
        ] {
            assert!(find_cpu(name).is_err(), "{name}");
        }
        insta::assert_snapshot!(find_cpu("EPYC").unwrap_err(), @r#"
        error: `EPYC` names 5 CPUs
         hint: one of epyc-7742, epyc-7763, epyc-7r13, epyc-9654, epyc-9755
        "#);
        insta::assert_snapshot!(find_cpu("Pentium").unwrap_err(), @r#"
        error: no CPU of the catalogue is called `Pentium`
         hint: `breakeven cpus` lists every name, --cpu-rate gives a rate instead, --catalogue adds your own
        "#);
        for (name, near) in [
            ("Intel(R) Core(TM) i9-14900KF", "core-i9-14900k (2023)"),
            ("AMD Ryzen 7 5800X3D 8-Core Processor", "ryzen-7-5800x (2020)"),
            ("Apple M1 Max", "apple-m1 (2020)"),
            ("AMD EPYC 7543P 32-Core Processor", "epyc-7763 (2021), epyc-7r13 (2021)"),
            ("Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", "xeon-platinum-8380 (2021)"),
            ("11th Gen Intel(R) Core(TM) i5-1135G7 @ 2.40GHz", "core-i7-1165g7 (2021)"),
            ("Ampere Altra", "graviton3 (2022)"),
        ] {
            let hint = find_cpu(name).unwrap_err().hint.unwrap();
            assert!(hint.contains(&format!("): {near}")), "{name}: {hint}");
        }
    }

    proptest! {
        #[test]
        fn no_name_panics(name in any::<String>()) {
            let _ = find_cpu(&name);
        }
    }
}
