//! `kernels`: tables good and bad.

use super::{breakeven, said};
use std::fs;

const TABLE: &str = "op,b,m,n,k,h,remark\nmatmul,1,4096,4096,4096,,\"a, b\"\nfrobnicate,1,,,,3,\nsoftmax,8192,,,,4096,c\nadd,-1,,,,4,\n";

/// Runs on a table of this text.
fn kernels(text: &[u8], arguments: &[&str]) -> String {
    said(breakeven().args(["kernels", "-"]).args(arguments).write_stdin(text))
}

#[test]
fn bad_rows_stay_in_place_and_are_told() {
    let text = kernels(TABLE.as_bytes(), &["--gpu", "l4"]);
    assert!(text.starts_with("exit 0\n"), "{text}");
    let rows: Vec<&str> = text.lines().skip(2).take(5).collect();
    assert_eq!(rows[0], "op,b,m,n,k,h,remark,gpu,time_us_p10,time_us_p50,time_us_p90,bound_by,note");
    assert!(rows[1].starts_with("matmul,1,4096,4096,4096,,\"a, b\",l4,") && rows[1].ends_with(",compute,"));
    assert!(rows[2].starts_with("frobnicate,1,,,,3,,l4,,,,,\"error: no op is called `frobnicate`"), "{text}");
    assert!(rows[3].starts_with("softmax,8192,,,,4096,c,l4,") && rows[3].ends_with(",memory,"));
    let told = text.split("--- stderr\n").nth(1).unwrap();
    assert!(told.starts_with("row 2: no op is called `frobnicate`") && told.contains("\nrow 4: b is -1;"), "{told}");
    assert!(told.ends_with("2 bad among 4 rows; they are in the table without a time, the reason in `note`\n"));
}

#[test]
fn every_row_for_each_gpu_in_order() {
    let text = kernels(TABLE.as_bytes(), &["--gpu", "l4,v100-pcie-16gb"]);
    let gpus: Vec<&str> =
        text.lines().skip(3).take(4).map(|l| if l.contains(",l4,") { "l4" } else { "v100" }).collect();
    assert_eq!(gpus, ["l4", "v100", "l4", "v100"]);
}

#[test]
fn when_nothing_can_be_done_it_says_so_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("timed.csv");
    let text =
        said(breakeven().args(["kernels", "-", "--gpu", "l4", "--output"]).arg(&file).write_stdin("op,h\nadd,x\n"));
    insta::assert_snapshot!(text, @"
    exit 2
    --- stderr
    row 1: h is `x`, which is not a number
    error: none of 1 rows could be read
     hint: `breakeven kernels --help` lists what each op takes
    ");
    assert!(!file.exists());
    let refused = |text: &[u8], arguments: &[&str]| {
        let text = kernels(text, arguments);
        assert!(text.starts_with("exit 2\n--- stderr\nerror: "), "{text}");
        text.lines().nth(2).unwrap().to_owned()
    };
    let all = [
        refused(b"", &["--gpu", "l4"]),
        refused(b"\0\x01\xff\xfe", &["--gpu", "l4"]),
        refused(b"PK\x03\x04,b\n", &["--gpu", "l4"]),
        refused(b"name,b,h\nadd,1,1\n", &["--gpu", "l4"]),
        refused(b"op,b,h\nadd,1,1\n", &[]),
        refused(b"op,gpu,b,h\nadd,l4,1,1\n", &["--gpu", "l4"]),
        refused(b"op,b,h_kib\nadd,1,1\n", &["--gpu", "l4"]),
        refused(b"op,b,h\nadd,1,1\n", &["--gpu", "rtx 3081"]),
    ];
    for (message, part) in all.iter().zip(["empty", "op", "op", "op", "no GPU", "column `gpu`", "unit", "rtx 3081"]) {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn files_by_their_name_and_a_list_of_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("in.csv"), TABLE).unwrap();
    for name in ["out.parquet", "out.json", "out.csv"] {
        let mut command = breakeven();
        command.arg("kernels").arg(path("in.csv")).args(["--gpu", "l4", "--errors"]).arg(path("bad.csv"));
        assert!(said(command.arg("--output").arg(path(name))).starts_with("exit 0\n--- stderr\nrow 2"), "{name}");
    }
    let bad = fs::read_to_string(path("bad.csv")).unwrap();
    assert!(bad.starts_with("row,error\n2,\"no op is called `frobnicate`") && bad.lines().count() == 3, "{bad}");
    let json: serde_json::Value = serde_json::from_slice(&fs::read(path("out.json")).unwrap()).unwrap();
    assert_eq!((json["timed"].as_u64(), json["bad"].as_u64()), (Some(2), Some(2)));
    assert_eq!(json["rows"][0]["m"], 4096);
    // What was written as Parquet reads again, and gives the same times beside the old ones renamed.
    let again = said(breakeven().arg("kernels").arg(path("out.parquet")));
    assert!(again.contains("already"), "{again}");
}

#[test]
fn events_show_the_floor() {
    let table = b"op,gpu,b,h\nadd,t4,1,100\n";
    assert!(kernels(table, &["--as-measured", "events"]).contains("add,t4,1,100,25,30,42,launch,"));
    let device = kernels(table, &[]);
    assert!(device.contains(",launch,") && !device.contains(",30,"), "{device}");
}

#[test]
fn what_was_read_is_written_as_it_was_and_times_to_six_digits() {
    let text = kernels(b"op,b,h,weight\nadd,3,7,0.12345678901234567\n", &["--gpu", "l4"]);
    let cells: Vec<&str> = text.lines().nth(3).unwrap().split(',').collect();
    assert_eq!(cells[3], "0.12345678901234567");
    for time in &cells[5..8] {
        let digits = time.chars().filter(char::is_ascii_digit).count();
        assert!((2..=7).contains(&digits), "{text}");
    }
}
