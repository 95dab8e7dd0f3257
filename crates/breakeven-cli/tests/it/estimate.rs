//! `estimate`: the worked figures, what is typed wrong, what fails a policy.

use super::{breakeven, says};
use serde_json::Value;

/// The worked example of `estimate --help`.
const EXAMPLE: [&str; 21] = [
    "estimate",
    "--flops",
    "10,000 GFLOPS",
    "--data",
    "1GB",
    "--cpu-rate",
    "400GFLOP/s",
    "--gpu",
    "RTX 3080",
    "--peak",
    "12.5TFLOP/s",
    "--utilization",
    "100%",
    "--python-overhead",
    "0",
    "--link",
    "32GB/s",
    "--data-out",
    "0",
    "--init",
    "468.75ms",
];

fn json(arguments: &[&str]) -> Value {
    let output = breakeven().args(arguments).args(["--format", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_worked_example() {
    let text = says(&EXAMPLE);
    assert!(
        text.starts_with("exit 0\n--- stdout\n19× faster on GeForce RTX 3080 10GB: 1.3 s against 25 s on the CPU"),
        "{text}"
    );
}

#[test]
fn its_digits_in_json() {
    let answer = json(&EXAMPLE);
    assert_eq!(answer["schema"], "breakeven.estimate/1");
    assert_eq!(answer["baseline"]["time_s"]["p50"], 25.0);
    assert_eq!(answer["estimates"][0]["time_s"]["p50"], 1.3);
    assert_eq!(answer["summary"]["verdict"], "gpu");
}

#[test]
fn utilisation_is_spelt_both_ways() {
    let british: Vec<&str> = EXAMPLE.iter().map(|a| if *a == "--utilization" { "--utilisation" } else { a }).collect();
    assert_eq!(json(&british), json(&EXAMPLE));
}

#[test]
fn a_small_job_stays_on_the_cpu() {
    let mut small = EXAMPLE.map(str::to_owned).to_vec();
    small[2] = "100 GFLOP".to_owned();
    let small: Vec<&str> = small.iter().map(String::as_str).collect();
    let text = says(&small).replace('\n', " ");
    assert!(text.contains("CPU is faster: 250 ms against 508 ms"), "{text}");
    assert!(text.contains("(2.0× slower on GPU)"), "{text}");
    assert!(text.contains("Breaks even at 206.6 GFLOP"), "{text}");
}

#[test]
fn explained_and_in_markdown() {
    let explained = says(&[&EXAMPLE[..], &["--explain"]].concat());
    assert!(explained.contains("effective rate = peak × utilisation"), "{explained}");
    let markdown = says(&[&EXAMPLE[..], &["--format", "markdown"]].concat());
    assert!(markdown.contains("**19× faster on GeForce RTX 3080 10GB"), "{markdown}");
}

#[test]
fn a_policy_that_fails_gives_one() {
    let ask = |policy| breakeven().args(EXAMPLE).args(["--fail-if", policy]).output().unwrap();
    let with = |policy| ask(policy).status.code();
    assert_eq!((with("speedup<20"), with("speedup<2"), with("speed<2")), (Some(1), Some(0), Some(2)));
    let told = ask("speedup<20").stderr;
    assert_eq!(String::from_utf8_lossy(&told), "--fail-if: `speedup<20` holds, or is not known\n");
}

#[test]
fn bad_numbers_are_refused_with_a_hint() {
    let given = ["12abc", "-1", "1e400", "nan", "", "GFLOP", "10 GB", "١٠", "\u{202e}5", "1e308 EFLOP"];
    let said: Vec<String> =
        given.iter().map(|n| format!("{n:?}: {}", says(&["estimate", "--cpu-rate", "1e11", "--flops", n]))).collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    "12abc": exit 2
    --- stderr
    error: `12abc` has the unit `abc`; an amount of computation has FLOP, kFLOP, MFLOP, GFLOP, TFLOP, PFLOP, EFLOP
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP

    "-1": exit 2
    --- stderr
    error: `-1` is negative; an amount of computation is 0 or more
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP

    "1e400": exit 2
    --- stderr
    error: `1e400` is larger than any number can be; an amount of computation is 0 or more
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP

    "nan": exit 2
    --- stderr
    error: `nan` is not a number
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP

    "": exit 2
    --- stderr
    error: nothing was given where an amount of computation was expected
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP

    "GFLOP": exit 2
    --- stderr
    error: `GFLOP` is not a number
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP

    "10 GB": exit 2
    --- stderr
    error: `10 GB` is an amount of data; an amount of computation is expected: FLOP, kFLOP, MFLOP, GFLOP, TFLOP, PFLOP, EFLOP
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP

    "١٠": exit 2
    --- stderr
    error: `١٠` is not a number
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP

    "\u{202e}5": exit 2
    --- stderr
    error: `�5` is not a number
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP

    "1e308 EFLOP": exit 2
    --- stderr
    error: `1e308 EFLOP` is larger than any number can be; an amount of computation is 0 or more
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP
    "#);
}

#[test]
fn a_space_wants_quotation_marks() {
    for (arguments, hint) in [
        (&["estimate", "--matmul", "500", "--gpu", "rtx", "4090"][..], "--gpu \"rtx 4090\""),
        (&["estimate", "--gpu", "l4", "--flops", "1", "TFLOP"], "--flops \"1 TFLOP\""),
    ] {
        let text = says(arguments);
        assert!(text.ends_with(&format!("hint: a value with a space stands in quotation marks: {hint}\n")), "{text}");
    }
    assert_eq!(
        json(&["estimate", "--matrix", "500", "--gpu", "l4"]),
        json(&["estimate", "--matmul", "500", "--gpu", "l4"])
    );
}

#[test]
fn half_a_gpu_is_refused() {
    let text = says(&["estimate", "--matmul", "500", "--gpus", "0.5"]);
    assert!(text.contains("error: `0.5` is not a whole number; a count is 0 or more\n hint: "), "{text}");
}

#[test]
fn other_bad_input_is_refused_with_a_hint() {
    let said: Vec<String> = [
        &["estimate"][..],
        &["estimate", "--flops", "1e12", "--gpu", "rtx 3081"],
        &["estimate", "--flops", "1e12", "--gpu", ""],
        &["estimate", "--flops", "1e12", "--sort", "colour"],
        &["estimate", "--flops", "1e12", "--catalogue", "/nowhere/mine.csv"],
        &["estimate", "--flops", "1e12", "--catalogue", "/"],
        &["estimate", "--flops", "1e12", "--fail-if", "speedup"],
        &["estimate", "--flops", "1e12", "--utilization", "140%"],
        &["estimate", "--flop", "1e12"],
        &["estimate", "--flops", "1e12", "--top", "-3"],
        &["guess"],
    ]
    .iter()
    .map(|arguments| format!("{}: {}", arguments[1..].join(" "), says(arguments)))
    .collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    : exit 2
    --- stderr
    error: no work was given
     hint: give a size (`--matmul 8000`, `--elements 1e8`, `--rows 1e7`, `--parameters 7B --tokens 1B`), or `--flops "10,000 GFLOP"`

    --flops 1e12 --gpu rtx 3081: exit 2
    --- stderr
    error: no GPU of the catalogue is called `rtx 3081`
     hint: nearest in kind to `rtx 3081` (NVIDIA GeForce, about 2020): rtx-3080-10gb (2020), rtx-3090 (2020), rtx-3080-ti (2021); `breakeven gpus` lists every name, --catalogue adds your own

    --flops 1e12 --gpu : exit 2
    --- stderr
    error: no GPU of the catalogue is called ``
     hint: `breakeven gpus` lists every name, --catalogue adds your own

    --flops 1e12 --sort colour: exit 2
    --- stderr
    error: cannot sort by `colour`
     hint: value, speed, cost, energy or name

    --flops 1e12 --catalogue /nowhere/mine.csv: exit 2
    --- stderr
    error: cannot read /nowhere/mine.csv: no such file or directory
     hint: check the path

    --flops 1e12 --catalogue /: exit 2
    --- stderr
    error: cannot read /: is a directory
     hint: name a file, not a folder

    --flops 1e12 --fail-if speedup: exit 2
    --- stderr
    error: `speedup` compares nothing: one of <= >= == != < > is needed
     hint: write it like `speedup<2` or `any cost_usd>0.01`; keys are speedup, time_s, cost_usd, energy_wh, co2_g, coverage, wins_on

    --flops 1e12 --utilization 140%: exit 2
    --- stderr
    error: `140%` is more than 100%; a share lies from 0 to 1 (100%)
     hint: write it like `40%`

    --flop 1e12: exit 2
    --- stderr
    error: unexpected argument '--flop' found
     hint: a similar argument exists: '--flops'

    --flops 1e12 --top -3: exit 2
    --- stderr
    error: invalid value '-3' for '--top <N>': -3 is not in 0..=4294967295
     hint: `--help` says what is allowed

    : exit 2
    --- stderr
    error: unrecognized subcommand 'guess'
     hint: a similar subcommand exists: 'gpus'
    "#);
}
