//! Reading files, and the date.

use crate::failure::{Failure, system_words};
use crate::own_prices;
use breakeven::hardware::Catalogue;
use breakeven::request::Machine;
use breakeven::workload::Workload;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

/// No workload or catalogue is larger, packed or not, bytes.
const LARGEST: u64 = 1 << 30;

/// The text of a file; gzip is unpacked.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    let mut file = File::open(path).map_err(|e| Failure::file("read", path, &e))?;
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(2).read_to_end(&mut head).map_err(|e| Failure::file("read", path, &e))?;
    let packed = head == [0x1f, 0x8b];
    let all = head.as_slice().chain(file);
    let mut bytes = Vec::new();
    let read = if packed {
        flate2::read::MultiGzDecoder::new(BufReader::new(all)).take(LARGEST).read_to_end(&mut bytes)
    } else {
        all.take(LARGEST).read_to_end(&mut bytes)
    };
    read.map_err(|e| match e.kind() {
        _ if packed => Failure::new(
            "gzip",
            format!("{} is not a whole gzip file: {}", path.display(), system_words(&e)),
            "save it again; a copy that was cut short cannot be read",
        ),
        _ => Failure::file("read", path, &e),
    })?;
    if bytes.len() as u64 == LARGEST {
        let message = format!("{} holds more than 1 GiB: at most that is read", path.display());
        return Err(Failure::new("too-large", message, "no recorded workload is so large: check the file"));
    }
    String::from_utf8(bytes).map_err(|e| {
        let message = format!("{} is not text: byte {} is not UTF-8", path.display(), e.utf8_error().valid_up_to());
        Failure::new("not-text", message, "name a .breakeven.json file, or a catalogue in CSV")
    })
}

/// Today in UTC, `YYYY-MM-DD`: the engine has no clock.
pub(crate) fn today() -> String {
    time::OffsetDateTime::now_utc().date().to_string()
}

/// Instead of this machine's CPU: its name as in `/proc/cpuinfo`, or any of the catalogue's.
const CPU: &str = "BREAKEVEN_CPU";

/// This machine, as far as Linux tells.
pub(crate) fn machine() -> Machine {
    if let Ok(cpu) = std::env::var(CPU) {
        return Machine { cpu, ..Machine::default() };
    }
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let threads = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    Machine {
        cpu: name.map(|(_, name)| name.trim().to_owned()).unwrap_or_default(),
        cpu_threads: u32::try_from(threads).unwrap_or(u32::MAX),
        cpu_cache_bytes: cache(),
        cpu_wide: info.lines().any(|line| line.starts_with("flags") && line.split(' ').any(|flag| flag == "avx512f")),
    }
}

/// Bytes of the last cache of the first CPU; 0 where Linux does not tell.
fn cache() -> u64 {
    let size = |level: u32| {
        let text = std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{level}/size")).ok()?;
        text.trim().strip_suffix('K')?.parse::<u64>().ok()
    };
    (0..8).filter_map(size).max().unwrap_or(0) << 10
}

/// A saved workload. Errors name the file.
pub(crate) fn workload(path: &Path) -> Result<Workload, Failure> {
    let text = text(path)?;
    Workload::from_json(text.as_bytes()).map_err(|mut error| {
        error.message = format!("{}: {}", path.display(), error.message);
        Failure::Input(error)
    })
}

/// The embedded catalogue, with the user's own prices and the user's file on top.
pub(crate) fn catalogue(path: Option<&Path>) -> Result<Cow<'static, Catalogue>, Failure> {
    let text = catalogue_text(path, None)?;
    Ok(Catalogue::embedded().and(text.as_deref())?)
}

/// The user's own prices, as far as they count in that region, and the text of the user's file. Errors name the file.
pub(crate) fn catalogue_text(path: Option<&Path>, region: Option<&str>) -> Result<Option<String>, Failure> {
    let own = own_prices::on_top(region)?;
    let text = path.map(overridden).transpose()?;
    Ok(match (own, text) {
        (Some(own), Some(text)) => Some(own + &text),
        (own, text) => own.or(text),
    })
}

/// The text of a catalogue file that holds on top of the embedded catalogue. Errors name the file.
fn overridden(path: &Path) -> Result<String, Failure> {
    let text = text(path)?;
    Catalogue::embedded().with_override(&path.display().to_string(), &text).map_err(|error| {
        let hint = match error.code {
            "catalogue-size" => "keep the lines that differ from what is built in",
            _ => "mend the line, or take it out: what is built in holds then",
        };
        if error.hint.is_some() { error } else { error.hint(hint) }
    })?;
    Ok(text)
}

/// Gzip.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory cannot fail.
    packer.write_all(bytes).and_then(|()| packer.finish()).unwrap_or_default()
}
