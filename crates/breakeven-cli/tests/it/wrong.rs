//! Wrong input of every kind: exit code 2, one line that says what is wrong, one that says what to do.

use super::{breakeven, said};
use std::fs;

/// Arguments (`␣` is a space within one), what the error says, what the hint says.
const CASES: [(&str, &str, &str); 46] = [
    // Words that are none.
    ("guess", "unrecognized subcommand 'guess'", "'gpus'"),
    ("estimate --flop 1", "unexpected argument '--flop' found", "'--flops'"),
    ("show --gpuu l4 work.json", "unexpected argument '--gpuu' found", "'--gpu'"),
    ("show", "required arguments were not provided: <FILE>...", "`--help`"),
    ("estimate stray", "unexpected argument 'stray' found", "`--help`"),
    ("estimate --flops", "a value is required for '--flops <FLOP>'", "`--help`"),
    ("estimate --flops 1 --format yaml", "invalid value 'yaml' for '--format <FORMAT>'", "text, json, markdown"),
    ("estimate --flops 1 --color red", "invalid value 'red'", "auto, always, never"),
    ("estimate --flops 1 --top many", "invalid value 'many' for '--top <N>'", "`--help`"),
    ("estimate --flops 1 --top -1", "invalid value '-1' for '--top <N>'", "`--help`"),
    ("estimate --flops 1 --link 1GB/s --pcie 4.0", "cannot be used with '--pcie <VERSION>'", "give one of the two"),
    ("completions cmd", "invalid value 'cmd'", "bash"),
    ("serve --port 99999", "99999", "`--help`"),
    // Quantities.
    ("estimate --flops 12abc", "`12abc` has the unit `abc`", "write it like"),
    ("estimate --flops -1", "`-1` is negative", "write it like"),
    ("estimate --flops 1e999", "`1e999` is larger than any number", "write it like"),
    ("estimate --flops 1 --utilization 140%", "`140%` is more than 100%", "write it like `40%`"),
    ("estimate --cpu-time 3h --parallel-fraction 120%", "`120%` is more than 100%", "write it like `40%`"),
    ("estimate --cpu-time -3h --parallel-fraction 80%", "`-3h` is negative; a duration is 0 or more", "write it like"),
    ("estimate --matmul 8000 --gpus l4", "`l4` is not a number", "which one is said by `--gpu`"),
    (
        "estimate --matmul 8000 --batch 4",
        "`batch` is a part of `parameters`, and `matmul` was given",
        "leave `batch` out",
    ),
    ("estimate --flops 1 --price cheap", "`cheap` is not a number", "write it like"),
    ("estimate --flops 1 --gpu-watts 3GB", "`3GB` is an amount of data", "write it like"),
    ("estimate --flops 1 --cpu-rate 0", "`cpu_rate` is zero", "leave it out"),
    ("estimate --flops 1 --matmul 5", "`flops` and `matmul` were both given", "give one of them"),
    ("estimate --parameters 1e9", "`tokens` is missing", "--new-tokens 200"),
    ("estimate --flops 1 --pcie 9.0", "`9.0` is not a PCI Express link", "`4.0`"),
    // Names.
    ("estimate --flops 1 --gpu RTX␣3081", "no GPU of the catalogue is called `RTX 3081`", "nearest in kind"),
    ("estimate --flops 1 --cpu ryzen␣5␣5600x", "no CPU of the catalogue is called `ryzen 5 5600x`", "nearest in kind"),
    ("estimate --flops 1 --region atlantis", "atlantis", "country"),
    ("estimate --flops 1 --provider acme", "no provider of the catalogue is called `acme`", "AWS"),
    ("estimate --flops 1 --precision fp12", "fp12", "fp64"),
    ("estimate --flops 1 --kind dreaming", "dreaming", "training"),
    ("estimate --flops 1 --sort colour", "colour", "speed"),
    ("estimate --flops 1 --fail-if speed<2", "`speed` is not a figure", "speedup"),
    ("estimate --flops 1 --max-price 0.000001", "no GPU asked for has a known price", "raise `--max-price`"),
    ("prices l4 --provider acme", "no price is known of a provider called `acme`", "known are"),
    ("gpus quadro␣k620", "no GPU of the catalogue is called `quadro k620`", "nearest in kind"),
    // Files.
    ("show nowhere.json", "cannot read nowhere.json: no such file or directory", "check the path"),
    ("show folder", "cannot read folder: is a directory", "name a file"),
    ("show notes.txt", "notes.txt: this is not a workload file", "--save FILE"),
    ("kernels notes.txt --gpu l4", "no column is called `op`", "names its columns"),
    ("estimate --flops 1 --output nowhere/x.txt", "nowhere/x.txt", "check the path"),
    ("run nowhere.py", "cannot read the script nowhere.py", "come before the script"),
    ("run --pretend-gpu mi300x script.py", "has no CUDA", "l4"),
    ("run --format json script.py", "stdout belongs to the script", "--output FILE"),
];

#[test]
fn wrong_input_is_told_in_one_line_and_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    fs::write(folder.path().join("notes.txt"), "no table, no workload\n").unwrap();
    fs::write(folder.path().join("script.py"), "").unwrap();
    let mut bad = String::new();
    for (arguments, error, hint) in CASES {
        let words = arguments.split(' ').map(|word| word.replace('␣', " "));
        let text = said(breakeven().current_dir(folder.path()).args(words));
        let told = match text.lines().collect::<Vec<_>>().as_slice() {
            ["exit 2", "--- stderr", wrong, next] => {
                wrong.starts_with("error: ")
                    && wrong.contains(error)
                    && next.starts_with(" hint: ")
                    && next.contains(hint)
            }
            _ => false,
        };
        if !told {
            bad += &format!("\n$ breakeven {arguments}\n{text}");
        }
    }
    assert_eq!(bad, "");
}
