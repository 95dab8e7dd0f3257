//! The command as a user meets it.

mod calibrate;
mod config;
mod diff;
mod doctor;
mod drawing;
mod estimate;
mod fleet;
mod gpus;
mod import;
mod kernels;
mod measure;
mod output;
mod plan;
mod prices;
mod run;
mod serve;
mod several;
mod terminal;
mod update;
mod watch;
mod wrong;

use assert_cmd::Command;

/// `breakeven` in an environment of its own: no colour, no virtual environment, no settings, no prices, no machine file, English, 80 columns.
fn breakeven() -> Command {
    let mut command = Command::cargo_bin("breakeven").expect("cargo builds it for the tests");
    command.env_remove("VIRTUAL_ENV").env_remove("NO_COLOR").env_remove("COLUMNS").env("LC_ALL", "C");
    command.env("BREAKEVEN_CPU", "").env("BREAKEVEN_CONFIG", "").env("BREAKEVEN_PRICES", "");
    command.env("BREAKEVEN_MACHINE", "");
    command
}

/// What a call says: exit code, stdout, stderr.
fn says(arguments: &[&str]) -> String {
    said(breakeven().args(arguments))
}

fn said(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut all = match output.status.code() {
        Some(code) => format!("exit {code}\n"),
        None => format!("{}\n", output.status),
    };
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            all += &format!("--- {name}\n{}", text(bytes));
        }
    }
    all
}
