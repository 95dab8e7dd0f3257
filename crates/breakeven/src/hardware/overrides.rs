//! What a catalogue file of one's own adds, overrides and is refused for.

use super::catalogue::HEADERS;
use super::figure::Value;
use super::price::Wanted;
use super::{Catalogue, Gpu};
use proptest::prelude::*;

fn gpus() -> &'static [Gpu] {
    Catalogue::embedded().gpus()
}

/// The catalogue with one table of these lines on top; the place of its header in [`HEADERS`].
fn with(table: usize, lines: &str) -> crate::Result<Catalogue> {
    Catalogue::embedded().with_override("mine.csv", &format!("{}\n{lines}", HEADERS[table].join(",")))
}

/// The catalogue as text again.
fn written(gpus: &[Gpu]) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(HEADERS[0]).unwrap();
    for gpu in gpus {
        for f in gpu.figures() {
            let value = match &f.value {
                Value::Number(n) => n.to_string(),
                Value::Text(text) => text.clone(),
            };
            let (read, confidence) = (f.read.to_string(), f.confidence.name());
            out.write_record([gpu.id(), f.kind.name, &value, f.kind.unit, &f.source, &read, confidence, &f.note])
                .unwrap();
        }
    }
    String::from_utf8(out.into_inner().unwrap()).unwrap()
}

#[test]
fn what_is_written_reads_back_the_same() {
    let none = Catalogue::embedded().with_override("same.csv", &written(&[])).unwrap();
    assert_eq!(none.gpus(), gpus());
    // Aliases and notes add to those there; all other figures replace.
    let again = Catalogue::embedded().with_override("same.csv", &written(gpus())).unwrap();
    let singles = |gpu: &Gpu| gpu.figures().iter().filter(|f| !f.kind.repeats).cloned().collect::<Vec<_>>();
    for (a, b) in again.gpus().iter().zip(gpus()) {
        assert_eq!(singles(a), singles(b));
        assert_eq!(a.device, b.device);
    }
}

fn error(text: &str) -> String {
    let text = format!("{}\n{text}", HEADERS[0].join(","));
    Catalogue::embedded().with_override("mine.csv", &text).unwrap_err().to_string()
}

#[test]
fn bad_figures_are_refused_with_what_is_allowed() {
    insta::assert_snapshot!(error("t4,bandwidth,NaN,GB/s,me,2026-11-21,estimate,"), @r#"error: mine.csv line 2: bandwidth of `t4` is `NaN`: a plain number from 1 to 100000 is allowed"#);
    insta::assert_snapshot!(error("t4,bandwidth,1e308,GB/s,me,2026-11-21,estimate,"), @r#"error: mine.csv line 2: bandwidth of `t4` is `1e308`: a plain number from 1 to 100000 is allowed"#);
    insta::assert_snapshot!(error("t4,bandwidth,320,TB/s,me,2026-11-21,estimate,"), @r#"error: mine.csv line 2: bandwidth of `t4` is in `TB/s`: GB/s is allowed"#);
    insta::assert_snapshot!(error("t4,bandwidth,320,GB/s,,2026-11-21,estimate,"), @r#"error: mine.csv line 2: bandwidth of `t4` has no source: every figure needs one"#);
    insta::assert_snapshot!(error("t4,bandwidth,320,GB/s,me,yesterday,estimate,"), @r#"error: mine.csv line 2: the date is `yesterday`: YYYY-MM-DD is allowed"#);
    insta::assert_snapshot!(error("t4,bandwidth,320,GB/s,me,2026-11-21,sure,"), @r#"error: mine.csv line 2: the confidence of bandwidth of `t4` is `sure`: measured, two_sources, datasheet, one_source, announced, formula, recalled, estimate, editorial are allowed"#);
    insta::assert_snapshot!(error("t4,units,40.5,count,me,2026-11-21,estimate,"), @r#"error: mine.csv line 2: units of `t4` is `40.5`: a whole number is allowed"#);
    insta::assert_snapshot!(error("T4,bandwidth,320,GB/s,me,2026-11-21,estimate,"), @r#"error: mine.csv line 2: the id is `T4`: 1 to 64 of a–z, 0–9 and - are allowed"#);
    insta::assert_snapshot!(error("x1,bandwidth,320,GB/s,me,2026-11-21,estimate,"), @r#"
    error: mine.csv line 2: the new GPU `x1` has no name, vendor, memory and fp32_vector
     hint: a GPU needs name, vendor, memory, bandwidth and fp32_vector: add lines `x1,name,…,text,…`, `x1,vendor,…,text,…`, `x1,memory,…,GiB,…`, `x1,fp32_vector,…,TFLOP/s,…`; to change a GPU of the catalogue, use its exact id
    "#);
    insta::assert_snapshot!(error("t4,bandwidth"), @r#"
    error: mine.csv line 2: 2 fields: 8 are allowed (gpu,figure,value,unit,source,read,confidence,note)
     hint: a value with a comma in it goes between double quotes
    "#);
}

#[test]
fn an_override_adds_a_gpu() {
    let line =
        |figure: &str, value: &str, unit: &str| format!("x1,{figure},{value},{unit},me,2026-11-21,estimate,a guess\n");
    let text = [
        line("name", "Example X1", "text"),
        line("vendor", "Example", "text"),
        line("memory", "8", "GiB"),
        line("bandwidth", "100", "GB/s"),
        line("fp32_vector", "2", "TFLOP/s"),
    ];
    let text = format!("{}\n{}", HEADERS[0].join(","), text.concat());
    let mine = Catalogue::embedded().with_override("mine.csv", &text).unwrap();
    assert_eq!(mine.gpus().len(), gpus().len() + 1);
    assert_eq!(mine.find_gpu("example x1").unwrap().gpus[0].id(), "x1");
}

#[test]
fn an_override_adds_a_cpu() {
    let line = |figure: &str, value: &str, unit: &str| format!("c1,{figure},{value},{unit},me,2026-11-21,estimate,\n");
    let needed = [
        line("name", "Example C1 8-Core Processor", "text"),
        line("cores", "8", "count"),
        line("base", "2000", "MHz"),
        line("boost", "4000", "MHz"),
        line("fp64_per_cycle", "16", "FLOP/cycle"),
        line("bandwidth", "50", "GB/s"),
    ];
    let mine = with(1, &needed.concat()).unwrap();
    let cpu = mine.find_cpu("Example C1 8-Core Processor").unwrap();
    assert_eq!((cpu.device.id.as_str(), cpu.threads), ("c1", 8));
    assert_eq!(cpu.device.peaks.f64_vector.unwrap().get(), 8.0 * 16.0 * 3e9);
    assert_eq!(mine.cpus().len(), Catalogue::embedded().cpus().len() + 1);
    let lacks_one = [&needed[..3], &needed[4..]].concat().concat();
    insta::assert_snapshot!(with(1, &lacks_one).unwrap_err(), @r#"
    error: mine.csv line 2: the new CPU `c1` has no boost
     hint: a CPU needs name, cores, base, boost, fp64_per_cycle and bandwidth: add a line `c1,boost,…,MHz,…`; to change a CPU of the catalogue, use its exact id
    "#);

    let mine = with(1, "epyc-7763,boost,3000,MHz,my BIOS,2026-11-21,measured,\n").unwrap();
    assert_eq!(mine.find_cpu("EPYC 7763").unwrap().device.boost.unwrap().get(), 3e9);
}

#[test]
fn all_errors_of_a_file_are_told_at_once() {
    let text = format!(
        "{}\nx1,name,X1,text,me,2026-11-22,estimate,\nx1,bandwidth,1 TB/s,GB,,tomorrow,sure,\nx1,cuda,8,count,me,\
         2026-11-22,estimate,\nt4,bandwidth\n{}\nUs,rack,x1,1,on_demand,free,,2026-11-22,day,maybe,us,\n\
         Us,rack,x2,1,on_demand,2,,2026-11-22,day,yes,us,\n",
        HEADERS[0].join(","),
        HEADERS[5].join(",")
    );
    let error = Catalogue::embedded().with_override("mine.csv", &text).unwrap_err();
    insta::assert_snapshot!(error, @r#"
    error: mine.csv has 11 errors:
      line 3: bandwidth of `x1` is in `GB`: GB/s is allowed
      line 3: the confidence of bandwidth of `x1` is `sure`: measured, two_sources, datasheet, one_source, announced, formula, recalled, estimate, editorial are allowed
      line 3: bandwidth of `x1` has no source: every figure needs one
      line 3: bandwidth of `x1` is `1 TB/s`: a plain number from 1 to 100000 is allowed
      line 3: the date is `tomorrow`: YYYY-MM-DD is allowed
      line 4: there is no figure `cuda`
        (figures are name, vendor, architecture, compute_capability, year, alias, typical_use, units, cores_per_unit, boost, memory, memory_type, unified_memory, bandwidth, l2_cache, last_level_cache, shared_per_unit, fp64_vector, fp64_tensor, fp32_vector, fp16_vector, fp32_tensor, tf32_tensor, fp16_tensor, bf16_tensor, fp8_tensor, int8_tensor, fp4_tensor, fp16_tensor_fp16_accumulate, host_link_name, host_link, interconnect, interconnect_rate, tdp, idle, context_idle, quoted_fp32_vector, quoted_bandwidth, quoted_host_link, note)
      line 5: 2 fields: 8 are allowed (gpu,figure,value,unit,source,read,confidence,note)
        (a value with a comma in it goes between double quotes)
      line 7: usd_per_hour is `free`: a plain number from 0.001 to 10000 is allowed
      line 7: complete is `maybe`: no and yes are allowed
      line 2: the new GPU `x1` has no vendor, memory and fp32_vector
        (a GPU needs name, vendor, memory, bandwidth and fp32_vector: add lines `x1,vendor,…,text,…`, `x1,memory,…,GiB,…`, `x1,fp32_vector,…,TFLOP/s,…`; to change a GPU of the catalogue, use its exact id)
      line 8: no GPU or CPU has the id `x2`
        (`breakeven gpus` lists the ids; a new device gets its lines in the same file)
    "#);
    assert_eq!(error.code, "catalogue-line");
}

/// A file with `n` errors names each of them, or the first twenty and how many more there are.
#[test]
fn many_errors_are_counted() {
    let told = |n: usize| with(0, &"t4,bandwidth,-1,GB/s,me,2026-11-21,estimate,\n".repeat(n)).unwrap_err().to_string();
    assert!(told(1).starts_with("error: mine.csv line 2: "));
    assert!(told(20).starts_with("error: mine.csv has 20 errors:\n  line 2: ") && !told(20).contains("more"));
    assert!(told(1000).starts_with("error: mine.csv has 1000 errors:") && told(1000).ends_with("\n  and 980 more"));
}

#[test]
fn an_override_adds_and_replaces_prices() {
    let on = |mine: &Catalogue, provider: &str| {
        let wanted = Wanted { provider: Some(provider.into()), ..Wanted::default() };
        mine.offers("h100-sxm5-80gb", &wanted).map(|p| (p.instance.clone(), p.machine.get())).collect::<Vec<_>>()
    };
    let before = on(Catalogue::embedded(), "AWS");
    let mine =
        with(5, "aws,P5.48xlarge,h100-sxm5-80gb,8,on_demand,40,us-east-1,2026-11-22,day,yes,our contract,\n").unwrap();
    let after = on(&mine, "AWS");
    assert_eq!(before.len(), after.len(), "{before:?} {after:?}");
    assert!(after.contains(&("P5.48xlarge".into(), 40.0)), "{after:?}");

    let mine = with(5, "Our cluster,rack 3,h100-sxm5-80gb,4,on_demand,2,,2026-11-22,day,yes,our books,\n").unwrap();
    assert_eq!(on(&mine, "our-cluster"), [("rack 3".to_owned(), 2.0)]);
    assert_eq!(mine.offers("h100-sxm5-80gb", &Wanted::default()).next().unwrap().per_device().get(), 0.5);
    assert_eq!(mine.providers().len(), Catalogue::embedded().providers().len() + 1);
}

#[test]
fn an_override_adds_and_replaces_machine_types() {
    let mine = with(2, "Rack3.big,rack3,Us,l4,2,me,2026-11-22\ng5.xlarge,g5,AWS,t4,3,me,2026-11-22\n").unwrap();
    let found = |name: &str| {
        let found = mine.find_gpu(name).unwrap();
        (found.gpus[0].id().to_owned(), found.instance.map(|i| i.gpus))
    };
    assert_eq!(found("rack3.big"), ("l4".into(), Some(2.0)));
    assert_eq!(found("g5.xlarge"), ("t4".into(), Some(3.0)));
}

#[test]
fn an_override_changes_and_adds_places() {
    let lines = "country,deu,,,,,,,,,,0.31,my bill,2026-11-22\n\
                 cloud_region,basement,,Our basement,Us,DEU,12.5,2026,my meter,1.4,my meter,,,2026-11-22\n";
    let mine = with(4, lines).unwrap();
    let germany = mine.find_region("Germany").unwrap();
    // What the line leaves empty is as it was.
    assert_eq!((germany.electricity_usd_per_kwh.value, germany.carbon_g_per_kwh.value), (0.31, 329.65));
    let basement = mine.find_region("our basement").unwrap();
    assert_eq!((basement.carbon_g_per_kwh.value, basement.pue.unwrap().value), (12.5, 1.4));
    assert_eq!((basement.electricity_usd_per_kwh.value, &*basement.electricity_usd_per_kwh.of), (0.31, "Germany"));
}

#[test]
fn tables_of_all_kinds_go_together_in_any_order() {
    let lines = [
        "me,rack,x1,1,on_demand,0.1,,2026-11-22,day,yes,me,\n",
        "x1,name,X1,text,me,2026-11-22,estimate,\nx1,vendor,X,text,me,2026-11-22,estimate,\n\
         x1,memory,8,GiB,me,2026-11-22,estimate,\nx1,bandwidth,100,GB/s,me,2026-11-22,estimate,\n\
         x1,fp32_vector,2,TFLOP/s,me,2026-11-22,estimate,\n",
    ];
    let text = format!("# mine\n{}\n{}\n{}\n{}", HEADERS[5].join(","), lines[0], HEADERS[0].join(","), lines[1]);
    let mine = Catalogue::embedded().with_override("mine.csv", &text).unwrap();
    assert_eq!(mine.offers("x1", &Wanted::default()).count(), 1);
    // Twice is as once.
    let twice = mine.with_override("mine.csv", &text).unwrap();
    assert_eq!(twice.prices(), mine.prices());
    assert_eq!(twice.gpus().len(), mine.gpus().len());
}

#[test]
fn bad_lines_of_other_tables_are_refused_with_what_is_allowed() {
    let priced = |n: usize, text: &str| {
        let mut fields = ["Us", "rack", "l4", "1", "on_demand", "2", "", "2026-11-22", "day", "yes", "me", ""];
        fields[n] = text;
        (5, fields.join(","))
    };
    let ids = "`breakeven gpus` lists the ids; a new device gets its lines in the same file";
    let cpu = |figure: &str| (1, format!("epyc-7763,{figure},me,2026-11-22,estimate,"));
    let place = |line: &str| (4, format!("{line},,,,,2026-11-22"));
    for ((table, line), message) in [
        (priced(0, ""), "provider is empty: every line needs one"),
        (priced(2, "l5"), &format!("no GPU or CPU has the id `l5`\n hint: {ids}")),
        (priced(3, "0"), "count is `0`: a plain number from 0.01 to 1024 is allowed"),
        (priced(4, "stolen"), "kind is `stolen`: on_demand, spot and marketplace are allowed"),
        (priced(5, "-1"), "usd_per_hour is `-1`: a plain number from 0.001 to 10000 is allowed"),
        (priced(5, "1e308"), "usd_per_hour is `1e308`: a plain number from 0.001 to 10000 is allowed"),
        (priced(5, "NaN"), "usd_per_hour is `NaN`: a plain number from 0.001 to 10000 is allowed"),
        (priced(7, "2026-02-30"), "the date is `2026-02-30`: YYYY-MM-DD is allowed"),
        (priced(9, "maybe"), "complete is `maybe`: no and yes are allowed"),
        ((2, "r,r,Us,l5,1,me,2026-11-22".into()), &format!("no GPU has the id `l5`\n hint: {ids}")),
        (cpu("cores,0,count"), "cores of `epyc-7763` is `0`: a plain number from 1 to 10000 is allowed"),
        (cpu("fp32_vector,10,TFLOP/s"), "there is no figure `fp32_vector`\n hint: figures are name, vendor, "),
        (place("planet,mars,,Mars,,,,,"), "the kind is `planet`: world, country, state, cloud_region and provider "),
        (place("country,DEU,,,,,-5,2026,me"), "carbon_g_per_kwh is `-5`: a plain number from 0 to 2000 is allowed"),
        (place("country,DEU,,,,,5,2026,"), "carbon_source is empty: every line needs one"),
        (place("country,world,,,,,5,2026,me"), "`world` is a place of another kind"),
        (place("world,earth,,Earth,,,5,2026,me"), "the code of the world is `earth`: world is allowed"),
        (
            place("cloud_region,x,,X,Us,XXX,5,2026,me"),
            "no country has the id `XXX`\n hint: an ISO code of three letters",
        ),
        (place("cloud_region,x,,X,Us,,5,2026,me"), "country is empty: every line needs one"),
        (place("country,XYZ,,,,,5,2026,me"), "name is empty: every line needs one"),
    ] {
        let error = with(table, &line).unwrap_err().to_string();
        assert!(error.starts_with(&format!("error: mine.csv line 2: {message}")), "{line}: {error}");
    }
}

proptest! {
    #[test]
    fn no_override_panics(text in "(?s).{0,200}") {
        let _ = Catalogue::embedded().with_override("f", &text);
        for table in 0..HEADERS.len() {
            let _ = with(table, &text);
        }
    }

    #[test]
    fn a_cut_or_changed_table_never_panics(at in 0usize..60_000, byte in any::<u8>()) {
        let mut text = written(&gpus()[..20]).into_bytes();
        let at = at % text.len();
        text[at] = byte & 0x7f;
        if let Ok(text) = String::from_utf8(text.clone()) {
            let _ = Catalogue::embedded().with_override("f", &text);
        }
        text.truncate(at);
        if let Ok(text) = String::from_utf8(text) {
            let _ = Catalogue::embedded().with_override("f", &text);
        }
    }
}
