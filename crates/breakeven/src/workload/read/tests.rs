//! What is refused, where and why; what is written comes back.

use crate::workload::samples::{heat, workloads};
use crate::workload::{InGraph, Step, Workload};
use proptest::prelude::*;

/// The documented example with one piece of its text replaced, read.
#[track_caller]
fn said(from: &str, to: &str) -> String {
    let text = heat().to_json().unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    Workload::from_json(text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
}

#[test]
fn the_example_is_read_and_written_the_same() {
    let text = heat().to_json().unwrap();
    assert_eq!(Workload::from_json(text.as_bytes()).unwrap().to_json().unwrap(), text);
}

#[test]
fn messages_say_where_and_why() {
    insta::assert_snapshot!(said("\"n\":1044484", "\"n\":-1"), @r#"
    error: the workload is not sound at `ops[3].op.elementwise.n`: invalid value: integer `-1`, expected u64
     hint: line 1, column 1632; docs/workload-format.md explains every field
    "#);
    insta::assert_snapshot!(said("\"count\"", "\"cuont\""), @r#"
    error: the workload is not sound at `ops[0].cuont`: unknown field `cuont`, expected one of `site`, `name`, `op`, `dtype`, `count`, `read_bytes`, `written_bytes`, `cpu_ns`, `gap_ns`, `host_input_bytes`, `host_input_count`, `kernels`, `phase`, `device`, `stream`, `thread`, `pid`, `rank`, `shapes`, `layout`, `graph`, `library`
     hint: did you mean `count`?
    "#);
    insta::assert_snapshot!(said("workload/1", "workload/2"), @r#"
    error: the file is `breakeven.workload/2`; this reads breakeven.workload/1
     hint: a newer breakeven wrote it: upgrade with `pip install --upgrade breakeven`
    "#);
    insta::assert_snapshot!(said("\"order\":[", "\"order\":[7,"), @r#"
    error: the workload is not sound: `ops[7].count` is 200, but `order` runs it 201 times
     hint: docs/workload-format.md explains every field
    "#);
    insta::assert_snapshot!(said("\"order\":[", "\"order\":[0,"), @r#"
    error: the workload is not sound: `ops[0].count` is 1, but `order` runs it 2 times
     hint: docs/workload-format.md explains every field
    "#);
    insta::assert_snapshot!(said("\"site\":0", "\"site\":12"), @r#"
    error: the workload is not sound: `ops[0].site` is 12, and `sites` has 5 items
     hint: docs/workload-format.md explains every field
    "#);
    insta::assert_snapshot!(said("\"wall_ns\":", "\"wall_ns\":1e308,\"peak_bytes\":"), @r#"
    error: the workload is not sound at `program.wall_ns`: invalid type: floating point `1e+308`, expected u64
     hint: line 1, column 191; docs/workload-format.md explains every field
    "#);
    insta::assert_snapshot!(said("\"hook_ns\":", "\"hook_ns\":NaN,\"peak_bytes\":"), @r#"
    error: the workload is not sound at `program.hook_ns`: expected value
     hint: line 1, column 222; docs/workload-format.md explains every field
    "#);
    insta::assert_snapshot!(said("\"order\":[", "\"order\":[[1000000000,[[1000000000,[[1000000000,[0]]]]]],"), @r#"
    error: the workload is not sound: `order` runs more than 2⁶⁴ ops or an entry beyond the 11 of `ops`
     hint: docs/workload-format.md explains every field
    "#);
    insta::assert_snapshot!(said("\"dtype\":\"f64\"", "\"dtype\":\"f65\""), @r#"
    error: the workload is not sound at `ops[0].dtype`: unknown variant `f65`, expected one of `f64`, `f32`, `tf32`, `f16`, `bf16`, `f8`, `i64`, `i32`, `i16`, `i8`, `u64`, `u32`, `u16`, `u8`, `bool`, `c64`, `c128`, `other`
     hint: line 1, column 974; docs/workload-format.md explains every field
    "#);
    let error = |bytes: &[u8]| Workload::from_json(bytes).unwrap_err().to_string();
    insta::assert_snapshot!(error(b""), @r#"
    error: the workload file is empty
     hint: `breakeven run SCRIPT --save FILE` writes one
    "#);
    insta::assert_snapshot!(error(b"\x1f\x8b\x08\x00"), @r#"
    error: the workload is compressed with gzip
     hint: unpack it with `gunzip`
    "#);
    insta::assert_snapshot!(error(b"[1,2]"), @r#"
    error: this is not a workload file
     hint: `breakeven run SCRIPT --save FILE` writes one
    "#);
    insta::assert_snapshot!(error(b"{}"), @r#"
    error: `format` is missing; a workload has breakeven.workload/1
     hint: `breakeven run SCRIPT --save FILE` writes one
    "#);
    insta::assert_snapshot!(error(&heat().to_json().unwrap().as_bytes()[..500]), @r#"
    error: the workload ends too early at `sites[1].function`, after line 1
     hint: the file was cut off: copy it again or record again
    "#);
}

#[test]
fn every_truncation_is_an_error() {
    let text = heat().to_json().unwrap();
    for end in 0..text.len() {
        let error = Workload::from_json(&text.as_bytes()[..end]).unwrap_err();
        assert!(error.hint.is_some(), "{error}");
    }
}

#[test]
fn loops_deeper_than_allowed_are_refused_without_overflow() {
    for depth in [33, 60, 1000, 1_000_000] {
        let order = format!("{}0{}", "[1,[".repeat(depth), "]]".repeat(depth));
        let error = said("\"order\":[", &format!("\"order\":[{order},"));
        assert!(error.contains("nest") || error.contains("recursion"), "{error}");
    }
    assert!(serde_json::from_str::<Step>("[0,[1]]").is_err());
    assert!(serde_json::from_str::<Step>("[5,[]]").is_err());
}

#[test]
fn fields_that_the_file_calls_optional_are_passed_over() {
    let text = heat().to_json().unwrap();
    let extended = text.replacen(
        "\"program\":{",
        "\"optional_fields\":[\"mood\"],\"mood\":[1],\"program\":{\"mood\":\"good\",",
        1,
    );
    let mut read = Workload::from_json(extended.as_bytes()).unwrap();
    assert_eq!(read.optional_fields, ["mood"]);
    read.optional_fields.clear();
    assert_eq!(read, heat());
    let error = Workload::from_json(extended.replacen("[\"mood\"]", "[\"hood\"]", 1).as_bytes()).unwrap_err();
    assert_eq!(error.code, "bad-workload");
}

#[test]
fn what_is_known_is_kept_though_the_file_calls_it_optional() {
    let mut graphed = heat();
    graphed.ops[2].graph = Some(InGraph::Node);
    graphed.optional_fields = vec!["graph".to_owned()];
    let text = graphed.to_json().unwrap();
    assert_eq!(Workload::from_json(text.as_bytes()).unwrap(), graphed);
    // As one reads it that does not know the field.
    let older = text.replace("\"graph\"", "\"grapf\"");
    let read = Workload::from_json(older.as_bytes()).unwrap();
    assert_eq!(read.ops, heat().ops);
}

#[test]
fn a_number_that_is_none_is_not_written() {
    let mut workload = heat();
    workload.program.hook_ns = f64::NAN;
    assert_eq!(workload.to_json().unwrap_err().code, "bad-workload");
}

proptest! {
    #[test]
    fn what_is_written_comes_back(workload in workloads()) {
        let text = workload.to_json().unwrap();
        let read = Workload::from_json(text.as_bytes()).unwrap();
        prop_assert_eq!(&read, &workload);
        prop_assert_eq!(read.to_json().unwrap(), text);
    }

    #[test]
    fn no_bytes_make_it_panic(at in 0..4000_usize, byte in any::<u8>()) {
        let mut bytes = heat().to_json().unwrap().into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = Workload::from_json(&bytes).map(|w| (w.flop(), w.bytes(), w.op_count()));
    }
}
