//! Where the script's own arguments begin.

use super::Cli;
use clap::CommandFactory;
use std::ffi::OsString;

/// Puts `--` before the script of `run` and `measure`, so that everything after it is the script's own, `--` included.
///
/// Options that take a value are asked of the parser itself.
pub(crate) fn split_script(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| word.to_string_lossy().starts_with('-');
    let Some(command) = arguments.iter().skip(1).position(|word| !is_option(word)).map(|at| at + 1) else {
        return arguments;
    };
    let name = arguments[command].to_string_lossy().into_owned();
    if !["run", "measure"].contains(&name.as_str()) {
        return arguments;
    }
    let cli = Cli::command();
    let Some(run) = cli.find_subcommand(&name) else { return arguments };
    let takes_value = |flag: &str| {
        run.get_arguments().any(|a| {
            let short = a.get_short().is_some_and(|s| flag.strip_prefix('-').is_some_and(|f| f == s.to_string()));
            let long = a.get_long().is_some_and(|l| flag.strip_prefix("--") == Some(l));
            // One that may stand alone takes its value by `=`.
            (short || long) && a.get_action().takes_values() && !a.is_require_equals_set()
        })
    };
    let mut at = command + 1;
    while let Some(argument) = arguments.get(at) {
        let text = argument.to_string_lossy();
        if text == "--" {
            return arguments;
        }
        if name == "run" && text.starts_with("-m") {
            // `-m MODULE` or `-mMODULE`: what follows is the module's.
            at += if text == "-m" { 2 } else { 1 };
            break;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        at += if takes_value(&text) { 2 } else { 1 };
    }
    if at < arguments.len() {
        arguments.insert(at, "--".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, RunArgs};
    use clap::Parser;

    fn run(arguments: &[&str]) -> RunArgs {
        let all = ["breakeven", "run"].iter().chain(arguments).map(OsString::from).collect();
        match Cli::parse_from(split_script(all)).command {
            Command::Run(args) => *args,
            other => panic!("parsed as {other:?}"),
        }
    }

    #[test]
    fn what_follows_the_script_is_its_own() {
        let args = run(&["--top", "3", "-q", "heat.py", "--top", "9", "--", "-m", "x"]);
        assert_eq!(args.command, ["heat.py", "--top", "9", "--", "-m", "x"]);
        assert_eq!((args.options.top, args.report.quiet, args.module), (Some(3), true, None));
    }

    #[test]
    fn an_option_that_may_stand_alone_takes_no_word() {
        use crate::args::Fake;
        for (typed, means) in [("--fake", Fake::Always), ("--fake=never", Fake::Never), ("-q", Fake::Auto)] {
            let args = run(&[typed, "--top", "3", "heat.py", "--fake"]);
            assert_eq!((args.fake, args.options.top), (means, Some(3)));
            assert_eq!(args.command, ["heat.py", "--fake"]);
            assert_eq!(run(&[typed, "heat.py"]).command, ["heat.py"]);
        }
    }

    #[test]
    fn what_follows_the_module_is_its_own() {
        for start in [&["-m", "pkg.mod"][..], &["-mpkg.mod"]] {
            let args = run(&[start, &["--gpu", "x", "--", "-q"]].concat());
            assert_eq!(args.module.as_deref(), Some("pkg.mod".as_ref()));
            assert_eq!(args.command, ["--gpu", "x", "--", "-q"]);
            assert!(!args.report.quiet);
        }
    }
}
