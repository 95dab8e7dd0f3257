//! Finding a GPU by the name a person, a cloud, nvidia-smi or torch gives it.
//!
//! Case, punctuation and brand words do not count: `NVIDIA A100-SXM4-40GB`, `a100_sxm4_40gb` and `A100 SXM4 40GB` are
//! one name. An exact id, name or alias wins. Otherwise a name is a family name when it can be put together from the
//! words that describe a GPU (`h100`, `A100 40GB`, `rtx 6000`, `ampere`), and every such GPU is a member.

use super::instance::Instance;
use super::series::{Candidate, nearest};
use super::table::shown;
use super::{Catalogue, Gpu};
use crate::{Error, Result};

/// Longer than any name of a GPU; keeps hostile names cheap.
const MAX_NAME: usize = 120;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Match<'c> {
    /// One GPU, or every member of a family; never empty.
    pub gpus: Vec<&'c Gpu>,
    /// The cloud's machine type, when the name was exactly one.
    pub instance: Option<&'c Instance>,
    /// Said when the name was not exactly one GPU's.
    pub note: Option<String>,
}

/// Makers' brands: they may be left out of an exact name.
pub(super) const BRANDS: [&str; 9] =
    ["nvidia", "amd", "intel", "apple", "geforce", "tesla", "radeon", "instinct", "corporation"];
/// Words by which products of one number differ.
pub(super) const SIBLINGS: [&str; 5] = ["ti", "super", "max", "ultra", "orin"];
/// Words that say nothing.
pub(super) const NOISE: [&str; 6] = ["gpu", "graphics", "card", "generation", "edition", "accelerator"];

impl Catalogue {
    /// The GPU or GPUs that `name` stands for.
    ///
    /// # Errors
    /// A name that matches nothing, with the nearest ones as a hint.
    ///
    /// ```
    /// let catalogue = breakeven::hardware::Catalogue::embedded();
    /// assert_eq!(catalogue.find_gpu("NVIDIA GeForce RTX 3080")?.gpus[0].id(), "rtx-3080-10gb");
    /// assert_eq!(catalogue.find_gpu("A100 40GB")?.gpus.len(), 2);
    /// assert!(catalogue.find_gpu("rtx 3081").unwrap_err().hint.unwrap().contains("rtx-3080-10gb"));
    /// # Ok::<(), breakeven::Error>(())
    /// ```
    pub fn find_gpu(&self, name: &str) -> Result<Match<'_>> {
        if name.len() > MAX_NAME {
            return Err(Error::new(
                "unknown-gpu",
                format!("the GPU name {} has {} bytes: {MAX_NAME} are allowed", shown(name), name.len()),
            )
            .hint("`breakeven gpus` lists every name"));
        }
        let given = words(name);
        let (full, bare) = (key(&given), bare_key(&given));
        let exactly = |key: &str| self.gpus().iter().filter(|gpu| is_called(gpu, key)).collect::<Vec<_>>();
        for gpus in [exactly(&full), exactly(&bare)] {
            if !gpus.is_empty() {
                return Ok(Match { note: family_note(name, &gpus), gpus, instance: None });
            }
        }
        if let Some(rented) = self.rented(name, &full) {
            return Ok(rented);
        }
        let whole: String = given.iter().filter(|w| !NOISE.contains(&w.as_str())).map(String::as_str).collect();
        let mut members = if whole.is_empty() { Vec::new() } else { self.members(&whole) };
        if whole.bytes().all(|b| b.is_ascii_digit()) {
            // `16` alone is no name of whatever has 16 GiB or cores: a model's number is among the numbers given.
            members.retain(|gpu| gpu.spellings().flat_map(words).any(|word| word.len() > 2 && given.contains(&word)));
        }
        match members.as_slice() {
            [] => Err(self.unknown(name)),
            [gpu] => {
                let note = format!("{} is read as {} ({})", shown(name), gpu.name(), gpu.id());
                Ok(Match { gpus: members, instance: None, note: Some(note) })
            }
            _ => Ok(Match { note: family_note(name, &members), gpus: members, instance: None }),
        }
    }

    /// The GPUs of the machine types that `key` names.
    fn rented(&self, name: &str, key: &str) -> Option<Match<'_>> {
        let types = self.instances_called(key);
        let mut gpus: Vec<&Gpu> = Vec::new();
        for gpu in types.iter().filter_map(|i| self.gpu(&i.gpu)) {
            if !gpus.iter().any(|g| g.id() == gpu.id()) {
                gpus.push(gpu);
            }
        }
        let (first, gpu) = (types.first()?, gpus.first()?);
        let sizes = types.iter().map(|i| format!("{} ({})", i.name, share(i.gpus))).collect::<Vec<_>>().join(", ");
        let note = match types.len() {
            1 => format!(
                "{} is {} {} with {} × {}",
                shown(name),
                first.provider,
                first.name,
                share(first.gpus),
                gpu.name()
            ),
            _ => format!("{} is a family of {} with {}: {sizes}", shown(name), first.provider, gpu.name()),
        };
        Some(Match { gpus, instance: (types.len() == 1).then_some(*first), note: Some(note) })
    }

    /// The GPUs whose describing words make up `whole`; else those with a word that goes on with a letter where
    /// `whole` ends (`mi300` for the MI300X).
    fn members(&self, whole: &str) -> Vec<&Gpu> {
        let described: Vec<_> = self.gpus().iter().map(|gpu| (gpu, description(gpu))).collect();
        let member = |(gpu, words): &&(&Gpu, Vec<String>)| is_made_of(whole, words) && !is_another(whole, gpu);
        let by_words: Vec<_> = described.iter().filter(member).map(|(gpu, _)| *gpu).collect();
        if !by_words.is_empty() || !whole.ends_with(|c: char| c.is_ascii_digit()) || whole.len() < 4 {
            return by_words;
        }
        let goes_on = |word: &String| {
            word.strip_prefix(whole).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        };
        described.iter().filter(|(_, words)| words.iter().any(goes_on)).map(|(gpu, _)| *gpu).collect()
    }

    fn unknown(&self, name: &str) -> Error {
        let all: Vec<_> = self
            .gpus()
            .iter()
            .map(|gpu| Candidate { id: gpu.id(), spellings: gpu.spellings().collect(), year: gpu.device.year })
            .collect();
        let every = "`breakeven gpus` lists every name, --catalogue adds your own";
        let hint = nearest("gpu", name, &all).map_or(every.to_owned(), |near| format!("{near}; {every}"));
        Error::new("unknown-gpu", format!("no GPU of the catalogue is called {}", shown(name))).hint(hint)
    }
}

/// A number of GPUs as people write it: `8`, `1/8`.
fn share(gpus: f64) -> String {
    if gpus < 1.0 { format!("1/{}", (1.0 / gpus).round()) } else { gpus.to_string() }
}

fn family_note(name: &str, gpus: &[&Gpu]) -> Option<String> {
    let names = || gpus.iter().map(|gpu| gpu.name()).collect::<Vec<_>>().join(", ");
    match gpus.len() {
        0 | 1 => None,
        2..=8 => Some(format!("{} names {} GPUs: {}", shown(name), gpus.len(), names())),
        n => Some(format!("{} names {n} GPUs", shown(name))),
    }
}

/// Lowercase words of a name, split at whatever is no letter or digit; `(R)` and `(TM)` are no words.
pub(super) fn words(name: &str) -> Vec<String> {
    let name = name.to_ascii_lowercase().replace("(r)", " ").replace("(tm)", " ");
    name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

/// What an exact name comes down to: its words without noise, written together.
pub(super) fn key(words: &[String]) -> String {
    words.iter().map(String::as_str).filter(|w| !NOISE.contains(w)).collect()
}

/// The same without brands.
fn bare_key(words: &[String]) -> String {
    words.iter().map(String::as_str).filter(|w| !BRANDS.contains(w) && !NOISE.contains(w)).collect()
}

/// Whether that is the key of one of its spellings. Its marketing name may be written without brands; its aliases may
/// not: `NVIDIA H200` is what nvidia-smi calls one board, `H200` is the family.
fn is_called(gpu: &Gpu, given: &str) -> bool {
    // No word that is left out has a digit: those of two names that are one are the same, which is seen without a search.
    let digits = |name: &str| name.bytes().filter(u8::is_ascii_digit).eq(given.bytes().filter(u8::is_ascii_digit));
    let spelled = |name: &str| digits(name) && key(&words(name)) == given;
    !given.is_empty() && (gpu.spellings().any(spelled) || digits(gpu.name()) && bare_key(&words(gpu.name())) == given)
}

/// Every word that describes a GPU: of its spellings, maker, architecture and memory.
fn description(gpu: &Gpu) -> Vec<String> {
    let device = &gpu.device;
    let gib = (device.memory.get() / f64::from(1 << 30)) as u32;
    let kind = gpu.figure("memory_type").and_then(|f| f.text()).unwrap_or_default();
    let vendor = gpu.figure("vendor").and_then(|f| f.text()).unwrap_or_default();
    let mut all: Vec<String> =
        gpu.spellings().chain([kind, vendor, device.architecture.as_str()]).flat_map(words).collect();
    all.extend([format!("{gib}gb"), format!("{gib}gib"), format!("{gib}g"), gib.to_string()]);
    if all.iter().any(|w| w.starts_with("sxm")) {
        all.push("sxm".to_owned());
    }
    all.sort();
    all.dedup();
    all
}

/// Whether `whole` names another product than this: it names a model (`4070 super`, `M2`) and leaves out what sets this
/// one apart from that (`RTX 4070 Ti SUPER`, `M2 Ultra`).
fn is_another(whole: &str, gpu: &Gpu) -> bool {
    let size =
        |word: &str| word.ends_with("gb") || word.ends_with("core") || word.len() < 3 && word.parse::<u8>().is_ok();
    let of_name = words(gpu.name());
    let model = |word: &String| (word == "nano" || word.contains(|c: char| c.is_ascii_digit())) && !size(word);
    let left_out = |word: &String| SIBLINGS.contains(&word.as_str()) && !whole.contains(word.as_str());
    of_name.iter().any(|word| model(word) && whole.contains(word.as_str())) && of_name.iter().any(left_out)
}

/// Whether `whole` is a sequence of `words` without remainder.
fn is_made_of(whole: &str, words: &[String]) -> bool {
    let mut reached = vec![false; whole.len() + 1];
    reached[0] = true;
    for start in 0..whole.len() {
        if !reached[start] {
            continue;
        }
        for word in words {
            if whole.as_bytes()[start..].starts_with(word.as_bytes()) {
                reached[start + word.len()] = true;
            }
        }
    }
    reached[whole.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ids(name: &str) -> Vec<&'static str> {
        Catalogue::embedded().find_gpu(name).map_or(Vec::new(), |m| m.gpus.into_iter().map(Gpu::id).collect())
    }

    #[test]
    fn names_as_people_and_tools_write_them() {
        for (name, id) in [
            ("t4", "t4"),
            ("T4", "t4"),
            ("Tesla T4", "t4"),
            ("Tesla_T4", "t4"),
            ("nvidia-tesla-t4", "t4"),
            ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
            ("NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb"),
            ("NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"),
            ("NVIDIA_A100-PCIE-40GB", "a100-pcie-40gb"),
            ("A100-PCIE-40GB", "a100-pcie-40gb"),
            ("NVIDIA A100 80GB PCIe", "a100-pcie-80gb"),
            ("a100 80gb sxm", "a100-sxm4-80gb"),
            ("A100SXM480GB", "a100-sxm4-80gb"),
            ("H100 SXM", "h100-sxm5-80gb"),
            ("h100-sxm", "h100-sxm5-80gb"),
            ("h100_sxm5", "h100-sxm5-80gb"),
            ("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"),
            ("H100 80GB SXM", "h100-sxm5-80gb"),
            ("NVIDIA H100 PCIe", "h100-pcie-80gb"),
            ("h100 nvl", "h100-nvl-94gb"),
            ("NVIDIA H200", "h200-sxm-141gb"),
            ("NVIDIA H200 NVL", "h200-nvl-141gb"),
            ("NVIDIA GH200 480GB", "gh200-96gb"),
            ("NVIDIA B200", "b200"),
            ("b300_sxm", "b300"),
            ("NVIDIA GeForce RTX 3080", "rtx-3080-10gb"),
            ("RTX 3080", "rtx-3080-10gb"),
            ("rtx3080", "rtx-3080-10gb"),
            ("GeForce RTX 3080", "rtx-3080-10gb"),
            ("3080", "rtx-3080-10gb"),
            ("RTX-3080-Ti", "rtx-3080-ti"),
            ("rtx3080ti", "rtx-3080-ti"),
            ("NVIDIA GeForce RTX 4090", "rtx-4090"),
            ("4090", "rtx-4090"),
            ("RTX 4070 Ti SUPER", "rtx-4070-ti-super"),
            ("4070 ti", "rtx-4070-ti"),
            ("NVIDIA GeForce GTX 1080 Ti", "gtx-1080-ti"),
            ("1080Ti", "gtx-1080-ti"),
            ("GTX 1060", "gtx-1060-6gb"),
            ("TITAN X (Pascal)", "titan-x-pascal"),
            ("TitanX_Pascal", "titan-x-pascal"),
            ("GeForce GTX TITAN X", "titan-x-maxwell"),
            ("TITAN Xp", "titan-xp"),
            ("TITAN V", "titan-v"),
            ("Quadro RTX 6000", "quadro-rtx-6000"),
            ("NVIDIA RTX A6000", "rtx-a6000"),
            ("A6000", "rtx-a6000"),
            ("NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"),
            ("RTX 6000 Ada", "rtx-6000-ada"),
            ("rtx_pro_6000_server", "rtx-pro-6000-blackwell-server"),
            ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-blackwell-workstation"),
            ("Tesla V100-SXM2-16GB", "v100-sxm2-16gb"),
            ("Tesla_V100-PCIE-32GB", "v100-pcie-32gb"),
            ("Tesla_P100-PCIE-16GB", "p100-pcie-16gb"),
            ("Tesla_P4", "p4"),
            ("Tesla M40", "m40-12gb"),
            ("NVIDIA L40S", "l40s"),
            ("NVIDIA L4", "l4"),
            ("NVIDIA A10G", "a10g"),
            ("A10", "a10"),
            ("NVIDIA A40", "a40"),
            ("AMD Instinct MI300X", "mi300x"),
            ("AMD Instinct MI300X OAM", "mi300x"),
            ("AMD Radeon RX 7900 XTX", "rx-7900-xtx"),
            ("RX6900XT", "rx-6900-xt"),
            ("Intel(R) Data Center GPU Max 1550", "max-1550"),
            ("Intel(R) Arc(TM) B580 Graphics", "arc-b580"),
            ("b60", "arc-pro-b60"),
            ("Apple M1 Max", "m1-max-32-core"),
            ("NVIDIA GB10", "gb10"),
            ("Jetson AGX Orin", "jetson-agx-orin-64gb"),
        ] {
            assert_eq!(ids(name), [id], "{name}");
        }
    }

    #[test]
    fn a_family_answers_with_every_member_and_says_so() {
        for (name, members) in [
            ("h100", &["h100-pcie-80gb", "h100-sxm5-80gb", "h100-nvl-94gb"][..]),
            ("H100 80GB", &["h100-pcie-80gb", "h100-sxm5-80gb"]),
            ("A100 40GB", &["a100-pcie-40gb", "a100-sxm4-40gb"]),
            ("a100_80", &["a100-pcie-80gb", "a100-sxm4-80gb"]),
            ("NVIDIA A100", &["a100-pcie-40gb", "a100-sxm4-40gb", "a100-pcie-80gb", "a100-sxm4-80gb"]),
            ("A100 SXM", &["a100-sxm4-40gb", "a100-sxm4-80gb"]),
            ("v100", &["v100-pcie-16gb", "v100-pcie-32gb", "v100-sxm2-16gb", "v100-sxm2-32gb"]),
            ("P100", &["p100-pcie-16gb", "p100-sxm2-16gb"]),
            ("H200", &["h200-sxm-141gb", "h200-nvl-141gb"]),
            ("titan x", &["titan-x-maxwell", "titan-x-pascal"]),
            ("gh200", &["gh200-96gb", "gh200-144gb"]),
            (
                "rtx 6000",
                &[
                    "rtx-6000-ada",
                    "rtx-pro-6000-blackwell-workstation",
                    "rtx-pro-6000-blackwell-server",
                    "quadro-rtx-6000",
                ],
            ),
        ] {
            assert_eq!(ids(name), members, "{name}");
            let note = Catalogue::embedded().find_gpu(name).unwrap().note.unwrap();
            assert!(note.contains(&format!("names {} GPUs", members.len())), "{note}");
        }
        assert!(ids("ampere").len() > 10 && ids("AMD").len() >= 8);
    }

    #[test]
    fn machine_types_of_clouds_are_names_too() {
        for (name, id, gpus) in [
            ("p4d", "a100-sxm4-40gb", Some(8.0)),
            ("p4d.24xlarge", "a100-sxm4-40gb", Some(8.0)),
            ("p5.48xlarge", "h100-sxm5-80gb", Some(8.0)),
            ("p6-b200.48xlarge", "b200", Some(8.0)),
            ("g5", "a10g", None),
            ("g5.xlarge", "a10g", Some(1.0)),
            ("G4DN.XLARGE", "t4", Some(1.0)),
            ("g6f.large", "l4", Some(0.125)),
            ("a2-highgpu-1g", "a100-sxm4-40gb", Some(1.0)),
            ("a2-highgpu", "a100-sxm4-40gb", None),
            ("a3-highgpu-8g", "h100-sxm5-80gb", Some(8.0)),
            ("g2-standard-48", "l4", Some(4.0)),
            ("Standard_NC24ads_A100_v4", "a100-pcie-80gb", Some(1.0)),
            ("NC24ads_A100_v4", "a100-pcie-80gb", Some(1.0)),
            ("Standard_ND96isr_H100_v5", "h100-sxm5-80gb", Some(8.0)),
            ("BM.GPU.H100.8", "h100-sxm5-80gb", Some(8.0)),
            ("gpu_1x_h100_pcie", "h100-pcie-80gb", Some(1.0)),
        ] {
            let found = Catalogue::embedded().find_gpu(name).unwrap();
            assert_eq!(ids(name), [id], "{name}");
            assert_eq!(found.instance.map(|i| i.gpus), gpus, "{name}");
            assert!(found.note.is_some());
        }
        let note = |name| Catalogue::embedded().find_gpu(name).unwrap().note.unwrap();
        insta::assert_snapshot!(note("p4d"), @r#"`p4d` is AWS p4d.24xlarge with 8 × A100 SXM4 40GB"#);
        insta::assert_snapshot!(note("g6f"), @r#"`g6f` is a family of AWS with L4: g6f.large (1/8), g6f.xlarge (1/8), g6f.2xlarge (1/4), g6f.4xlarge (1/2)"#);
        for instance in Catalogue::embedded().instances() {
            let found = Catalogue::embedded().find_gpu(&instance.name).unwrap();
            assert_eq!(found.instance, Some(instance), "{}", instance.name);
        }
    }

    #[test]
    fn what_matches_nothing_gets_the_nearest() {
        let error = |name| Catalogue::embedded().find_gpu(name).unwrap_err().to_string();
        insta::assert_snapshot!(error("RTX 3081"), @r#"
        error: no GPU of the catalogue is called `RTX 3081`
         hint: nearest in kind to `RTX 3081` (NVIDIA GeForce, about 2020): rtx-3080-10gb (2020), rtx-3090 (2020), rtx-3080-ti (2021); `breakeven gpus` lists every name, --catalogue adds your own
        "#);
        insta::assert_snapshot!(error(""), @r#"
        error: no GPU of the catalogue is called ``
         hint: `breakeven gpus` lists every name, --catalogue adds your own
        "#);
        insta::assert_snapshot!(error("gpu"), @r#"
        error: no GPU of the catalogue is called `gpu`
         hint: `breakeven gpus` lists every name, --catalogue adds your own
        "#);
        insta::assert_snapshot!(error("h\u{202e}1000\0"), @r#"
        error: no GPU of the catalogue is called `h\u{202e}1000\0`
         hint: `breakeven gpus` lists every name, --catalogue adds your own
        "#);
        insta::assert_snapshot!(error(&"A100".repeat(2_500_000)), @r#"
        error: the GPU name `A100A100A100A100A100A100A100A100A100A100A100A100A100A100A100…` has 10000000 bytes: 120 are allowed
         hint: `breakeven gpus` lists every name
        "#);
        // A laptop's GPU is another chip, a slice another device, and Cyrillic is no Latin.
        // A smaller sibling that the catalogue does not have is not the larger one.
        for name in ["Apple M1", "M2", "M3", "GTX 1070 Ti", "1650super", "RTX 3080 12GB", "3080 laptop", "Jetson Nano"]
        {
            assert_eq!(ids(name), [""; 0], "{name}");
        }
        assert!(ids("apple").len() >= 3 && ids("super").len() >= 3 && ids("12GB").len() >= 4 && ids("orin").len() >= 3);
        assert_eq!([ids("4070super"), ids("RTX 4060 Laptop GPU")], [["rtx-4070-super"], ["rtx-4060-laptop"]]);
        // A size of memory says something beside a name.
        assert_eq!(ids("4080 16"), ["rtx-4080"]);
        for name in ["1", "4", "16", "80", "1;2", "1/0"] {
            assert_eq!(ids(name), [""; 0], "{name}");
        }
        for name in ["NVIDIA GeForce RTX 3080 Laptop GPU", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "RTX 4090 D", "А100"] {
            assert_eq!(ids(name), [""; 0], "{name}");
        }
    }

    #[test]
    fn every_spelling_belongs_to_one_gpu() {
        let mut owners = std::collections::BTreeMap::new();
        for gpu in Catalogue::embedded().gpus() {
            let bare = bare_key(&words(gpu.name()));
            for spelling in gpu.spellings().map(|s| key(&words(s))).chain([bare]) {
                let owner = owners.entry(spelling).or_insert(gpu.id());
                assert_eq!(*owner, gpu.id());
            }
        }
    }

    proptest! {
        #[test]
        fn no_name_panics(name in any::<String>()) {
            let _ = Catalogue::embedded().find_gpu(&name);
        }

        #[test]
        fn case_and_punctuation_do_not_count(n in 0usize..105, separator in "[-_ ./]") {
            let gpu = &Catalogue::embedded().gpus()[n];
            for name in [gpu.id(), gpu.name()] {
                let other = name.to_uppercase().replace([' ', '-'], &separator);
                prop_assert_eq!(ids(&other), vec![gpu.id()], "{}", other);
            }
        }
    }
}
