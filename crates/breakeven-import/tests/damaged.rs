//! Files cut at any byte, changed at any byte, packed in any way: never a panic, and what is whole comes out.

use breakeven_import::{Source, Summary, read, report};
use proptest::prelude::*;
use std::io::{Cursor, Read, Write};

const WHOLE: &[u8] = include_bytes!("fixtures/cuda.json");

fn summary(bytes: &[u8]) -> Option<Summary> {
    Some(Summary::of(vec![Source::from_bytes("cut.json", bytes).and_then(read).ok()?]))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn cut_at_any_byte() {
    let mut before = 0;
    for at in 1..WHOLE.len() - 2 {
        let cut = summary(&WHOLE[..at]).unwrap_or_else(|| panic!("cut at {at}"));
        assert!(cut.not_read.iter().any(|note| note.code == "cut-short"), "cut at {at}");
        let kernels = cut.kernels.unwrap_or(0);
        assert!(kernels >= before, "cut at {at}: {kernels} kernels after {before}");
        before = kernels;
    }
    assert_eq!(before, 4);
}

#[test]
fn packed_in_one_member_or_many_or_cut() {
    let whole = summary(WHOLE).unwrap();
    let (first, second) = WHOLE.split_at(1000);
    let members = [gzip(first), gzip(second)].concat();
    let zstd = zstd::encode_all(WHOLE, 1).unwrap();
    for packed in [gzip(WHOLE), members, zstd.clone()] {
        assert_eq!(summary(&packed).unwrap(), whole);
    }
    for packed in [gzip(WHOLE), zstd.clone()] {
        for at in 10..packed.len() - 1 {
            let _ = summary(&packed[..at]);
        }
    }
    let packed = gzip(WHOLE);
    let cut = summary(&packed[..packed.len() * 3 / 4]).unwrap();
    assert!(cut.not_read.iter().any(|note| note.code == "cut-short"));
    let error = Source::from_bytes("cut.zst", &zstd[..zstd.len() / 2]).and_then(read).unwrap_err();
    assert!(error.message.contains("not whole"), "{error}");
}

/// A reader that gives few bytes at a time.
struct Drip(Cursor<Vec<u8>>, usize);

impl Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.1.min(buffer.len());
        self.0.read(&mut buffer[..n])
    }
}

#[test]
fn events_that_straddle_what_is_read_at_a_time() {
    // Longer than what is read at a time, and each event at another place in it.
    let event = |i: u32| {
        let name = "k".repeat(i as usize % 4000);
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "ts": {}, "dur": 1.5, "args": {{"device": 0}}}}"#,
            i * 2
        )
    };
    let events: Vec<String> = (0..1000).map(event).collect();
    let text = format!("{{\"schemaVersion\": 1, \"traceEvents\": [{}]}}", events.join(",\n"));
    for at_once in [7, 4096, 1 << 20] {
        let drip = Box::new(Drip(Cursor::new(text.clone().into_bytes()), at_once));
        let all = Summary::of(vec![read(Source::from_reader("drip", drip).unwrap()).unwrap()]);
        assert_eq!(all.kernels, Some(1000));
        assert!((all.kernel_s.unwrap() - 1.5e-3).abs() < 1e-12);
        assert!(all.not_read.iter().all(|note| !["cut-short", "broken"].contains(&note.code)), "{:?}", all.not_read);
    }
}

/// Whatever was read adds up.
fn sound(all: &Summary) {
    if let (Some(busy), Some(span), Some(idle)) = (all.busy_s, all.span_s, all.idle_s) {
        assert!(busy >= 0.0 && idle >= 0.0 && busy <= span);
    }
    let text = report::text(all, false);
    assert!(text.lines().count() <= 24 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json: serde_json::Value = serde_json::from_str(&report::json(all, None)).unwrap();
    assert_eq!(json["schema"], "breakeven.trace/1");
    let _ = report::markdown(all);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changed_at_any_byte(changes in prop::collection::vec((0..WHOLE.len(), any::<u8>()), 1..6)) {
        let mut bytes = WHOLE.to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        if let Some(all) = summary(&bytes) {
            sound(&all);
        }
    }

    #[test]
    fn pieces_lost_or_twice(from in 0..WHOLE.len(), long in 1..400_usize, twice: bool) {
        let to = (from + long).min(WHOLE.len());
        let next = if twice { from } else { to };
        let before = if twice { to } else { from };
        let bytes = [&WHOLE[..before], &WHOLE[next..]].concat();
        if let Some(all) = summary(&bytes) {
            sound(&all);
        }
    }

    #[test]
    fn any_bytes(bytes: Vec<u8>) {
        if let Some(all) = summary(&bytes) {
            sound(&all);
        }
    }
}
