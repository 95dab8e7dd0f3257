//! `gpus`: names as people write them, figures as they are known.

use super::{breakeven, said, says};

#[test]
fn the_list_names_every_gpu_once() {
    let output = breakeven().args(["gpus", "--format", "json"]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let listed = list["gpus"].as_array().unwrap();
    let mut ids: Vec<&str> = listed.iter().map(|g| g["gpu"].as_str().unwrap()).collect();
    let text = says(&["gpus"]);
    assert!(ids.iter().all(|id| text.contains(&format!("\n  {id} "))));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), listed.len());
    assert!(ids.len() >= 75);
}

#[test]
fn a_family_answers_with_its_members_and_well_known_figures_are_explained() {
    insta::assert_snapshot!(says(&["gpus", "h100"]), @"
    exit 0
    --- stdout
      id              name            year  memory  bandwidth        fp64        fp32    fp16 tensor  power  typical use
      h100-nvl-94gb   H100 NVL 94GB   2023  94 GiB  3938 GB/s  30 TFLOP/s  60 TFLOP/s  835.5 TFLOP/s  400 W  Large-language-model inference
      h100-pcie-80gb  H100 PCIe 80GB  2022  80 GiB  2000 GB/s  26 TFLOP/s  51 TFLOP/s    756 TFLOP/s  350 W  Large training and inference, HPC in double precision
      h100-sxm5-80gb  H100 SXM5 80GB  2022  80 GiB  3350 GB/s  34 TFLOP/s  67 TFLOP/s  989.4 TFLOP/s  700 W  Large training and inference, HPC in double precision

    note: `h100` names 3 GPUs: H100 PCIe 80GB, H100 SXM5 80GB, H100 NVL 94GB
    note: PCIe 5.0 x16: often quoted as 32 GB/s, which is the 32 GT/s of one lane (and the rate of PCIe 4.0 x16): 16 lanes × 32 GT/s × 128/130 ÷ 8 = 63 GB/s each direction
    note: H100 SXM5 80GB: 60 is the preliminary figure of the announcement in 2022, still widely quoted; the datasheet of the product says 67: 132 SMs × 128 lanes × 2 × 1.98 GHz
    ");
}

#[test]
fn one_gpu_with_every_source() {
    let text = says(&["gpus", "Tesla T4"]);
    for part in ["T4 (t4)", "fp32 vector", "8.1 TFLOP/s", "320 GB/s", "Cheap inference", "nvidia-t4-datasheet"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_name_that_matches_nothing() {
    insta::assert_snapshot!(says(&["gpus", "rtx 3081"]), @"
    exit 2
    --- stderr
    error: no GPU of the catalogue is called `rtx 3081`
     hint: nearest in kind to `rtx 3081` (NVIDIA GeForce, about 2020): rtx-3080-10gb (2020), rtx-3090 (2020), rtx-3080-ti (2021); `breakeven gpus` lists every name, --catalogue adds your own
    ");
}

#[test]
fn a_catalogue_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("mine.csv");
    let header = "gpu,figure,value,unit,source,read,confidence,note\n";
    let row = |value: &str| format!("{header}t4,bandwidth,{value},GB/s,my own run,2026-11-21,measured,\n");
    std::fs::write(&mine, row("300")).unwrap();
    let text = said(breakeven().args(["gpus", "t4", "--catalogue"]).arg(&mine));
    assert!(text.contains("300 GB/s  my own run"), "{text}");

    for (absurd, why) in [("-1", "is `-1`"), ("1e308", "is `1e308`"), ("NaN", "is `NaN`"), ("", "is")] {
        std::fs::write(&mine, row(absurd)).unwrap();
        let text = said(breakeven().args(["gpus", "--catalogue"]).arg(&mine));
        assert!(
            text.starts_with("exit 2\n--- stderr\nerror: ") && text.contains(why) && text.contains("line 2"),
            "{text}"
        );
    }
}

/// Devices, prices and places of one's own, through every command that takes them.
#[test]
fn a_catalogue_with_tables_of_every_kind() {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/catalogue.csv");
    let text = |arguments: &[&str]| said(breakeven().args(arguments).arg("--catalogue").arg(&own));
    let json = |arguments: &[&str]| -> serde_json::Value {
        let text = text(&[arguments, &["--format", "json"]].concat());
        let body = text.strip_prefix("exit 0\n--- stdout\n").unwrap_or_else(|| panic!("{text}"));
        serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {text}"))
    };

    assert!(text(&["gpus", "our next card"]).contains("quotation 4711"));
    let offers = json(&["prices", "l4", "--provider", "our cluster"]);
    assert_eq!(offers["prices"][0]["usd_per_h"], 0.3);
    assert_eq!(offers["prices"].as_array().unwrap().len(), 1);

    let numbers = ["estimate", "--flops", "1e15", "--cpu", "Intel(R) Xeon(R) Gold 5412U", "--gpu", "rack3.l4x2"];
    let estimate = json(&[&numbers[..], &["--provider", "Our cluster", "--region", "our basement"]].concat());
    let (cpu, gpu) = (&estimate["baseline"], &estimate["estimates"][0]);
    assert_eq!((&cpu["device"], &cpu["price"]["usd_per_h"]), (&"Intel(R) Xeon(R) Gold 5412U".into(), &0.35.into()));
    assert_eq!((&gpu["gpu"], &gpu["price"]["provider"]), (&"l4".into(), &"Our cluster".into()));
    let grams = |e: &serde_json::Value| e["co2_g"]["p50"].as_f64().unwrap() / e["energy_wh"]["p50"].as_f64().unwrap();
    assert!((grams(gpu) - 0.32965).abs() < 1e-6, "{}", grams(gpu));

    let kernels = json(&["kernels", "../../examples/kernels.csv", "--gpu", "our-next,our-host"]);
    let named: Vec<_> = kernels["rows"].as_array().unwrap().iter().map(|row| row["gpu"].clone()).collect();
    assert_eq!(named[..2], ["our-next", "our-host"]);
}

/// A wrong line is told by the name of its file, whichever command reads it, and nothing is written.
#[test]
fn a_wrong_line_is_told_by_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let (mine, out) = (folder.path().join("mine.csv"), folder.path().join("out"));
    let price = "provider,instance,device,count,kind,usd_per_hour,region,date,date_precision,complete,source,note\n\
                 Us,rack,l4,1,on_demand,free,,2026-11-22,day,yes,us,\n";
    std::fs::write(&mine, price).unwrap();
    let workload = "../../docs/examples/heat.breakeven.json";
    assert!(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(workload).is_file());
    for arguments in [
        &["estimate", "--flops", "1e12"][..],
        &["show", workload],
        &["kernels", "../../examples/kernels.csv", "--gpu", "l4"],
        &["gpus"],
        &["prices"],
    ] {
        let text = said(breakeven().args(arguments).arg("--output").arg(&out).arg("--catalogue").arg(&mine));
        let said = format!("exit 2\n--- stderr\nerror: {} line 2: usd_per_hour is `free`: ", mine.display());
        assert!(text.starts_with(&said), "{arguments:?}: {text}");
        assert!(!out.exists(), "{arguments:?}");
    }
}

#[test]
fn cpus_are_listed_and_found() {
    let output = breakeven().args(["cpus", "--format", "json"]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(list["schema"], "breakeven.cpus/1");
    let listed = list["cpus"].as_array().unwrap();
    let text = says(&["cpus"]);
    assert!(listed.len() >= 37);
    for cpu in listed {
        assert!(text.contains(&format!("\n  {} ", cpu["cpu"].as_str().unwrap())), "{cpu}");
        assert!(cpu["figures"].as_array().unwrap().iter().all(|f| f["source"] != "" && f["unit"] != ""), "{cpu}");
    }
    let one = says(&["cpus", "AMD EPYC 7763 64-Core Processor"]);
    for part in ["AMD EPYC 7763 (epyc-7763)", "204.8 GB/s", "amd-product-specs"] {
        assert!(one.contains(part), "{part} in {one}");
    }
    let family = says(&["cpus", "epyc"]);
    assert!(family.contains("epyc-9654") && family.contains("note: `epyc` names 5 CPUs"), "{family}");
    assert!(!family.contains("xeon"));
}

/// A file with several wrong lines is answered with all of them.
#[test]
fn every_wrong_line_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("mine.csv");
    let own = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/catalogue.csv")).unwrap();
    let wrong = own.replace("290,GB/s", "fast,GB/s").replace("210,GB/s", "210,GB").replace(",0.60,", ",-1,");
    std::fs::write(&mine, wrong).unwrap();
    let text = said(breakeven().args(["cpus", "--catalogue"]).arg(&mine));
    assert!(text.starts_with("exit 2\n--- stderr\nerror: "), "{text}");
    for part in ["has 3 errors", "`fast`: a plain number", "is in `GB`: GB/s is allowed", "usd_per_hour is `-1`"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn errors_of_a_table_stand_below_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.csv");
    let rows = "gpu,figure,value,unit,source,read,confidence,note\nl4,memory,x\u{1b}[31m,GiB,me,2026-01-02,datasheet,\nl4,tdp,0,W,me,2026-01-02,datasheet,\n";
    std::fs::write(&file, rows).unwrap();
    let told = says(&["gpus", "l4", "--catalogue", file.to_str().unwrap()]);
    assert!(told.contains("has 2 errors:\n  line 2: ") && told.contains("\n  line 3: "), "{told}");
    assert!(!told.contains('\u{1b}'), "{told}");
}
