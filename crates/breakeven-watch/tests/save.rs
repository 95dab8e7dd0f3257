//! Sessions in files: what was written is read, a file may end anywhere, and a day stays small.

use breakeven::hardware::Vendor;
use breakeven_watch::save::{Event, Reader, Writer, replay};
use breakeven_watch::{Field, Gpu, Note, Process, Sample, Sink, Totals};

/// Numbers that look like chance and are the same each time.
struct Noise(u64);

impl Noise {
    /// From −1 to 1, most often near 0.
    fn next(&mut self) -> f64 {
        let mut sum = 0.0;
        for _ in 0..3 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            sum += (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        }
        sum / 3.0
    }
}

fn gpus(count: usize) -> Vec<Gpu> {
    (0..count).map(|n| Gpu { memory: Some(8e10), ..Gpu::new(n.to_string(), Vendor::Nvidia, "NVIDIA H200") }).collect()
}

/// Writes a noisy session at 10 Hz; every value moves as it does on a loaded board.
fn noisy(count: usize, seconds: usize) -> Vec<u8> {
    let totals = Totals::new(&gpus(count), Some(64), Some("python train.py".to_owned()));
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &totals, 0.1);
    let mut noise = Noise(1);
    let mut joules = vec![0.0; count];
    let mut sample = Sample { gpus: vec![Default::default(); count], ..Sample::default() };
    for n in 0..seconds * 10 {
        sample.at = n as f64 / 10.0 + 0.0004 * noise.next();
        sample.whole = n % 10 == 0;
        let load = 0.6 + 0.3 * (sample.at / 40.0).sin();
        for (reading, joules) in sample.gpus.iter_mut().zip(&mut joules) {
            let watts = 100.0 + 500.0 * load + 25.0 * noise.next();
            *joules += watts / 10.0 + 0.2 * noise.next();
            reading.set(Field::Busy, ((load + 0.08 * noise.next()).clamp(0.0, 1.0) * 100.0).round() / 100.0);
            reading
                .set(Field::MemoryBusy, ((0.5 * load + 0.05 * noise.next()).clamp(0.0, 1.0) * 100.0).round() / 100.0);
            reading.set(Field::Memory, 32e9 + (4.0 * noise.next()).round() * 2.0 * 1_048_576.0);
            reading.set(Field::CoreMhz, 1980.0 - 15.0 * (3.0 * noise.next().abs()).round());
            reading.set(Field::MemoryMhz, 3201.0);
            reading.set(Field::Watts, (watts * 1e3).round() / 1e3);
            reading.set(Field::Joules, *joules);
            reading.set(Field::Throttle, if noise.next() > 0.4 { 1.0 } else { 0.0 });
            if sample.whole {
                reading.set(Field::Celsius, (52.0 + 4.0 * noise.next()).round());
                reading.set(Field::ToGpu, 2e9 + 5e8 * noise.next());
                reading.set(Field::FromGpu, 3e8 + 1e8 * noise.next());
            }
        }
        if sample.whole {
            sample.host.set(Field::Cores, 9.0 + noise.next());
            sample.host.set(Field::OwnCores, 8.0 + noise.next());
        }
        writer.sample(&sample);
    }
    writer.finish(3).unwrap();
    bytes
}

#[test]
fn a_day_of_eight_gpus_at_ten_a_second_takes_at_most_50_mb() {
    // A tenth of a day: the noise is the same in each minute.
    let tenth = noisy(8, 8640).len();
    println!("{tenth} bytes for 2.4 h");
    assert!(tenth <= 5_000_000, "{tenth} bytes");
}

#[test]
fn what_was_written_is_read() {
    let all = gpus(2);
    let totals = Totals::new(&all, Some(4), None);
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, &totals, 0.5);
    let mut written = Vec::new();
    for n in 0..300 {
        let mut sample = Sample { at: f64::from(n) / 2.0, gpus: vec![Default::default(); 2], ..Sample::default() };
        sample.whole = n % 2 == 0;
        sample.gpus[0].set(Field::Busy, f64::from(n % 100) / 100.0);
        sample.gpus[1].set(Field::Joules, (n >= 7).then(|| 1e7 + f64::from(n) * 30.1));
        sample.gpus[1].set(Field::Lost, (n > 200).then_some(1.0));
        sample.host.set(Field::Cores, 1.5);
        let process = Process { gpu: 1, pid: 42, name: "python".to_owned(), memory: Some(1e9), busy: Some(0.5) };
        sample.processes = if sample.whole { vec![process] } else { Vec::new() };
        if n == 100 {
            writer.note(&Note::new("gpu-lost", "gone").hint("look"));
        }
        writer.sample(&sample);
        written.push(sample);
    }
    writer.finish(7).unwrap();
    let reader = Reader::new(bytes.as_slice()).unwrap();
    assert_eq!((reader.totals.gpus.clone(), reader.totals.cores, reader.interval_s), (all, Some(4), 0.5));
    let (mut read, mut notes, mut missed, mut looks) = (Vec::new(), Vec::new(), 0, 0);
    assert!(reader.each(|event| match event {
        Event::Sample(sample) => read.push(sample),
        Event::Note(note) => notes.push(note),
        Event::Users(users) => looks = users.all()[0].2.looks,
        Event::End(count) => missed = count,
    }));
    assert_eq!((read.len(), notes, missed, looks), (300, vec![Note::new("gpu-lost", "gone").hint("look")], 7, 150));
    for (a, b) in written.iter().zip(&read) {
        assert!((a.at - b.at).abs() < 1e-9 && a.whole == b.whole);
        for (field, _, _, step) in Field::ALL {
            for (a, b) in a.gpus.iter().chain([&a.host]).zip(b.gpus.iter().chain([&b.host])) {
                let (a, b) = (a.get(field), b.get(field));
                assert_eq!(a.is_some(), b.is_some(), "{field:?}");
                assert!(a.zip(b).is_none_or(|(a, b)| (a - b).abs() <= step / 2.0 + 1e-9), "{field:?}");
            }
        }
    }
}

#[test]
fn a_file_that_ends_anywhere_gives_its_whole_minutes() {
    let bytes = noisy(1, 200);
    let whole = replay(bytes.as_slice(), 100).unwrap().0;
    assert_eq!((whole.samples, whole.missed, whole.notes.len()), (2000, 3, 0));
    let mut counts = Vec::new();
    for end in (0..bytes.len()).step_by(97) {
        if let Ok((totals, _)) = replay(&bytes[..end], 100) {
            assert!(totals.notes.iter().any(|note| note.code == "cut-short"), "at {end}");
            counts.push(totals.samples);
        }
    }
    counts.dedup();
    assert!(counts.starts_with(&[0, 601]) || counts.starts_with(&[601]), "{counts:?}");
}

#[test]
fn what_is_no_session_is_refused_and_damage_does_no_harm() {
    for bytes in [b"".as_slice(), b"GPU busy", &zstd::bulk::compress(b"{}\n", 1).unwrap()] {
        assert_eq!(Reader::new(bytes).err().unwrap().code, "watch-file");
    }
    let head = zstd::bulk::decompress(&noisy(1, 1), 1 << 20).unwrap();
    let text = String::from_utf8(head).unwrap();
    for (from, to) in
        [("samples 10", "samples 99999999999"), ("at ", "at \u{1f4a3}"), ("0.busy ", "0.busy ~~~~~~~~~~~~~~~~~~")]
    {
        let damaged = text.replace(from, to);
        let packed = zstd::bulk::compress(damaged.as_bytes(), 1).unwrap();
        replay(packed.as_slice(), 10).unwrap();
    }
}
