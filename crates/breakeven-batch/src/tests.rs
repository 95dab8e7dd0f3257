//! Order, and that a stream equals the whole.

use super::*;
use breakeven::hardware::Catalogue;
use proptest::prelude::*;
use std::io::Cursor;

fn l4() -> Vec<String> {
    vec!["l4".to_owned()]
}

/// The answer as CSV, with what was bad.
fn answer(text: &str, gpus: Vec<String>) -> (String, Vec<u64>, Summary) {
    let table = Table::from_csv(Box::new(Cursor::new(text.to_owned().into_bytes()))).unwrap();
    let devices = Devices::new(&table.columns, Catalogue::embedded(), &gpus).unwrap();
    let (mut out, mut bad) = (Vec::new(), Vec::new());
    let told = |row, _: &str| {
        bad.push(row);
        Ok(())
    };
    let summary = kernels(table, devices, Clock::Device, Format::Csv, &mut out, told, |_| ()).unwrap();
    (String::from_utf8(out).unwrap(), bad, summary)
}

#[test]
fn rows_keep_their_order_across_chunks() {
    let rows = 40_000;
    let line = |i: usize| if i % 7 == 3 { format!("add,x,{i}\n") } else { format!("add,{},{i}\n", i % 100 + 1) };
    let text = "op,h,id\n".to_owned() + &(0..rows).map(line).collect::<String>();
    let (out, bad, summary) = answer(&text, l4());
    let ids: Vec<usize> = out.lines().skip(1).map(|l| l.split(',').nth(2).unwrap().parse().unwrap()).collect();
    assert_eq!(ids, (0..rows).collect::<Vec<_>>());
    let expected: Vec<u64> = (0..rows as u64).filter(|i| i % 7 == 3).map(|i| i + 1).collect();
    assert_eq!(bad, expected);
    assert_eq!((summary.rows, summary.bad + summary.timed), (rows as u64, rows as u64));
}

#[test]
fn many_devices_give_what_each_gives_alone() {
    // More rows than one piece has, with bad ones at its ends.
    let gpus: Vec<String> = Catalogue::embedded().gpus().iter().map(|gpu| gpu.id().to_owned()).collect();
    let most = (read::ROWS / gpus.len()).max(FEWEST);
    let broken = [most - 1, most, most + 1, 3 * most - 1];
    let line = |i: usize| if broken.contains(&i) { "add\n".to_owned() } else { format!("add,{}\n", i + 1) };
    let text = "op,h\n".to_owned() + &(0..3 * most).map(line).collect::<String>();
    let (all, bad, summary) = answer(&text, gpus.clone());
    assert_eq!(bad, broken.map(|i| i as u64 + 1));
    assert_eq!((summary.rows, summary.timed), (3 * most as u64, ((3 * most - 4) * gpus.len()) as u64));
    for at in [0, gpus.len() - 1] {
        let (one, ..) = answer(&text, vec![gpus[at].clone()]);
        let of_all: Vec<&str> = all.lines().skip(1).skip(at).step_by(gpus.len()).collect();
        assert_eq!(of_all, one.lines().skip(1).collect::<Vec<_>>());
    }
}

#[test]
fn ragged_rows_and_bytes_that_are_no_text_are_bad_rows() {
    let bytes = b"op,h\nadd,1\nadd\nadd,1,2\n\xff\xfe,3\nadd,2\n".to_vec();
    let table = Table::from_csv(Box::new(Cursor::new(bytes))).unwrap();
    let devices = Devices::new(&table.columns, Catalogue::embedded(), &l4()).unwrap();
    let mut bad = Vec::new();
    let told = |row, why: &str| {
        bad.push(format!("{row} {why}"));
        Ok(())
    };
    let summary = kernels(table, devices, Clock::Device, Format::Csv, Vec::new(), told, |_| ()).unwrap();
    assert_eq!(bad, ["2 has 1 cells, the header 2", "3 has 3 cells, the header 2", "4 is not UTF-8 text"]);
    assert_eq!((summary.rows, summary.timed), (5, 2));
}

#[test]
fn a_quote_left_open_does_not_fill_the_memory() {
    let text = Cursor::new(b"op,h\nadd,1\n\"".to_vec()).chain(std::io::repeat(b'x').take(1 << 30));
    let mut table = Table::from_csv(Box::new(text)).unwrap();
    let error = table.next_chunk().err().unwrap();
    assert!(error.message.contains("a quote left open"), "{error}");
}

use std::io::Read;

#[test]
fn names_that_stand_for_several_gpus_are_told() {
    let (out, bad, _) =
        answer("op,gpu,h\nadd,h100,10\nadd,Tesla T4,10\nadd,epyc-7763,10\nadd,,10\nadd,zx81,10\n", Vec::new());
    assert_eq!(bad, [1, 4, 5]);
    assert!(out.lines().nth(1).unwrap().contains("names 3: h100-pcie-80gb"), "{out}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Each row gets the time that it gets alone.
    #[test]
    fn a_stream_equals_its_rows(dims in prop::collection::vec((0u32..300, 1u32..300), 1..60)) {
        let line = |(m, h): &(u32, u32)| format!("softmax,{m},{h}\n");
        let text = "op,b,h\n".to_owned() + &dims.iter().map(line).collect::<String>();
        let (whole, ..) = answer(&text, l4());
        for (row, dim) in whole.lines().skip(1).zip(&dims) {
            let (alone, ..) = answer(&("op,b,h\n".to_owned() + &line(dim)), l4());
            prop_assert_eq!(row, alone.lines().nth(1).unwrap());
        }
    }
}
