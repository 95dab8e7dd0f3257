//! Options of ours that stand behind the script's name, where they are the script's.

use super::typed;
use crate::args::Cli;
use crate::failure::say;
use clap::CommandFactory;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

/// Says which options of ours the script gets, unless its text mentions them. `command` is the script and its arguments.
pub(super) fn tell(command: &[OsString]) {
    let Some((script, arguments)) = command.split_first() else { return };
    // What is read of a pipe would be lost to Python.
    if !Path::new(script).is_file() {
        return;
    }
    let Ok(text) = std::fs::read_to_string(script) else { return };
    let found = misplaced(arguments, &text);
    let names: BTreeSet<String> = found
        .iter()
        .map(|&at| arguments[at].to_string_lossy())
        .filter(|w| w.starts_with("--"))
        .map(|word| format!("`{}`", word.split('=').next().unwrap_or(&word)))
        .collect();
    if names.is_empty() {
        return;
    }
    let words = typed::words();
    let (own, of_script) = words.split_at(words.len() - arguments.len());
    let rest = of_script.iter().enumerate().filter(|(at, _)| !found.contains(at)).map(|(_, word)| word.clone());
    let moved: Vec<OsString> = found.iter().map(|&at| arguments[at].clone()).collect();
    say(&format!(
        "note: what follows {} is the script's, {} too; for breakeven: {}",
        Path::new(script).display(),
        names.into_iter().collect::<Vec<_>>().join(", "),
        typed::again(&own.iter().cloned().chain(rest).collect::<Vec<_>>(), &moved),
    ));
}

/// Where among the arguments our options are, and their values.
fn misplaced(arguments: &[OsString], text: &str) -> BTreeSet<usize> {
    let cli = Cli::command();
    let ours = cli.find_subcommand("run").into_iter().flat_map(clap::Command::get_arguments);
    let ours: Vec<_> = ours.filter_map(|argument| Some((argument.get_long()?, argument))).collect();
    let mut found = BTreeSet::new();
    for (at, word) in arguments.iter().enumerate().take_while(|(_, word)| *word != "--") {
        let word = word.to_string_lossy();
        let Some(typed) = word.strip_prefix("--") else { continue };
        let name = typed.split('=').next().unwrap_or(typed);
        let Some((_, argument)) = ours.iter().find(|(long, _)| *long == name) else { continue };
        if !mentions(text, name) {
            found.insert(at);
            let apart = argument.get_action().takes_values() && !argument.is_require_equals_set() && name == typed;
            if apart && at + 1 < arguments.len() {
                found.insert(at + 1);
            }
        }
    }
    found
}

/// Whether the script's code has the option, or the variable that it would be: command lines can be made of a function's
/// parameters.
fn mentions(text: &str, name: &str) -> bool {
    let variable = name.replace('-', "_");
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let code = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    code.flat_map(|line| line.split(|c| !is_part(c)))
        .any(|word| word.trim_start_matches('-') == name || word == variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(arguments: &[&str], text: &str) -> Vec<usize> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        misplaced(&arguments, text).into_iter().collect()
    }

    #[test]
    fn options_of_ours_with_their_values() {
        assert_eq!(found(&["10", "--gpu", "l4", "--top=3", "--spot", "x"], ""), [1, 2, 3, 4]);
        assert_eq!(found(&["--fake", "x", "--steps", "5", "--help", "--", "--gpu"], ""), [0]);
    }

    #[test]
    fn not_those_that_the_script_knows() {
        let knows = |text: &str| found(&["--runs-per-month", "3"], text).is_empty();
        assert!(knows("parser.add_argument('--runs-per-month')") && knows("def main(runs_per_month): ..."));
        assert!(!knows("# --runs-per-month is breakeven's") && !knows("best_runs_per_month = 1"));
    }
}
