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
      h100-pcie-80gb  H100 PCIe 80GB  2022  80 GiB  2000 GB/s  26 TFLOP/s  51 TFLOP/s    756 TFLOP/s  350 W  Large training and inference, HPC in double precision
      h100-sxm5-80gb  H100 SXM5 80GB  2022  80 GiB  3350 GB/s  34 TFLOP/s  67 TFLOP/s  989.4 TFLOP/s  700 W  Large training and inference, HPC in double precision
      h100-nvl-94gb   H100 NVL 94GB   2023  94 GiB  3938 GB/s  30 TFLOP/s  60 TFLOP/s  835.5 TFLOP/s  400 W  Large-language-model inference

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
     hint: nearest are rtx-3080-10gb, rtx-2080, rtx-3050-8gb; `breakeven gpus` lists every name
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
