//! Settings that hold where an option is not given: `breakeven.toml` of the project, then the user's own `config.toml`.

use crate::failure::Failure;
use crate::input;
use std::env;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item};

/// Every setting, by the name of the option it stands for, with an example.
pub(crate) const NAMES: [(&str, &str); 6] = [
    ("gpu", r#"gpu = ["l4", "h100-sxm"]"#),
    ("region", r#"region = "eu-west-1""#),
    ("provider", r#"provider = "AWS""#),
    ("provider-class", r#"provider-class = "cloud""#),
    ("runs-per-month", "runs-per-month = 3000"),
    ("electricity", "electricity = 0.25"),
];

/// What the project's folder and the user's own folder call the file.
const PROJECT: &str = "breakeven.toml";
const USER: &str = "breakeven/config.toml";

/// What a file says of one setting. `gpu` has any number of values, none for all GPUs; every other one has one.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<String>,
    /// `breakeven.toml:3`
    pub(crate) place: String,
}

/// What all files say; the first that speaks of a setting wins.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    found: Vec<Setting>,
    /// Whether files of the user's hold at all.
    wanted: bool,
}

impl Settings {
    /// Those of the files that hold here, where they are `wanted`; else none.
    ///
    /// # Errors
    /// A file that cannot be read, is no TOML, or has a setting that is none or of the wrong type.
    pub(crate) fn read(wanted: bool) -> Result<Self, Failure> {
        let mut found: Vec<Setting> = Vec::new();
        for file in if wanted { files() } else { Vec::new() } {
            let shown = shown(&file);
            for setting in settings(&input::text(&file)?, &shown)? {
                if !found.iter().any(|known| known.name == setting.name) {
                    found.push(setting);
                }
            }
        }
        Ok(Self { found, wanted })
    }

    /// Whether files of the user's hold: not with `--no-config`.
    pub(crate) const fn wanted(&self) -> bool {
        self.wanted
    }

    /// What is set under this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        self.found.iter().find(|setting| setting.name == name)
    }

    /// What the option says, else what is set.
    pub(crate) fn or(&self, given: Option<&String>, name: &str) -> Option<String> {
        given.or_else(|| self.get(name)?.values.first()).cloned()
    }

    /// The GPUs that the option names, else those that are set.
    pub(crate) fn gpus(&self, given: &[String]) -> Vec<String> {
        let set = || self.get("gpu").map_or_else(Vec::new, |setting| setting.values.clone());
        if given.is_empty() { set() } else { given.to_owned() }
    }

    /// The failure, which also says where it comes from if a file set what it is about.
    pub(crate) fn placed(&self, failure: Failure) -> Failure {
        let Failure::Input(mut error) = failure else { return failure };
        let about = self.found.iter().find(|setting| {
            let quoted = |value: &String| error.message.contains(&format!("`{value}`"));
            error.field == Some(setting.name.replace('-', "_").as_str()) && setting.values.iter().any(quoted)
        });
        if let Some(setting) = about {
            error.message = format!("{}: {}", setting.place, error.message);
        }
        Failure::Input(error)
    }
}

/// The files that hold here, the one that wins first: the one that `BREAKEVEN_CONFIG` names, which may be none; else the
/// project's and the user's, where they exist.
fn files() -> Vec<PathBuf> {
    if let Some(named) = env::var_os("BREAKEVEN_CONFIG") {
        return if named.is_empty() { Vec::new() } else { vec![named.into()] };
    }
    [project(), user()].into_iter().flatten().filter(|file| file.exists()).collect()
}

/// The nearest `breakeven.toml`: that of the working folder, or of a parent up to the root of the git repository.
fn project() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    let root = here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&here);
    let within = here.ancestors().take_while(|folder| folder.starts_with(root));
    within.map(|folder| folder.join(PROJECT)).find(|file| file.exists())
}

/// Where the user's own settings are (<https://specifications.freedesktop.org/basedir-spec/latest/>).
fn user() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?.join(USER))
}

/// A file of the working folder by its name alone.
fn shown(file: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    file.strip_prefix(here).unwrap_or(file).display().to_string()
}

/// The settings of one file.
fn settings(text: &str, file: &str) -> Result<Vec<Setting>, Failure> {
    let at = |span: Option<std::ops::Range<usize>>| {
        let before = span.and_then(|span| text.get(..span.start)).unwrap_or_default();
        format!("{file}:{}", before.matches('\n').count() + 1)
    };
    let document = Document::parse(text).map_err(|error| {
        let message = format!("{} is no TOML: {}", at(error.span()), error.message().replace('\n', ", "));
        Failure::new("config", message, format!("a line is a setting and its value, as in {}", NAMES[0].1))
    })?;
    let table = document.as_table();
    let mut found = Vec::new();
    for (given, item) in table {
        let place = at(table.key(given).and_then(|key| key.span()));
        let Some(&(name, example)) = NAMES.iter().find(|(name, _)| *name == given) else {
            let message = format!("{place}: there is no setting `{given}`");
            return Err(Failure::new(
                "config",
                message,
                format!("did you mean `{}`? settings are {}", nearest(given), NAMES.map(|(name, _)| name).join(", ")),
            ));
        };
        let Some(values) = values(name, item) else {
            let kind = match name {
                "gpu" => "a name or a list of names",
                "runs-per-month" | "electricity" => "a number, or text with a unit",
                _ => "a name",
            };
            let message = format!("{place}: `{name}` is {}, and takes {kind}", article(item.type_name()));
            return Err(Failure::new("config", message, format!("write it like {example}")));
        };
        found.push(Setting { name, values, place });
    }
    Ok(found)
}

/// The values as they would be typed on the command line; nothing where they are of the wrong type.
fn values(name: &str, item: &Item) -> Option<Vec<String>> {
    let text = |text: &str| text.split(',').map(|name| name.trim().to_owned()).collect();
    match (name, item.as_str()) {
        ("gpu", Some(names)) => Some(text(names)),
        ("gpu", None) => item.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
        (_, Some(one)) => Some(vec![one.to_owned()]),
        ("runs-per-month" | "electricity", None) => {
            let number = item.as_integer().map(|n| n.to_string());
            Some(vec![number.or_else(|| item.as_float().map(|n| n.to_string()))?])
        }
        _ => None,
    }
}

/// The name most like the `given` one.
fn nearest(given: &str) -> &'static str {
    NAMES.map(|(name, _)| name).into_iter().min_by_key(|name| strsim::osa_distance(name, given)).unwrap_or_default()
}

fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        match settings(text, "breakeven.toml") {
            Err(Failure::Input(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_example_reads() {
        let text = NAMES.map(|(_, example)| example).join("\n");
        let all = settings(&text, "x.toml").unwrap();
        let said: Vec<_> = all.iter().map(|s| format!("{} {} {}", s.place, s.name, s.values.join("+"))).collect();
        insta::assert_snapshot!(said.join("\n"), @"
        x.toml:1 gpu l4+h100-sxm
        x.toml:2 region eu-west-1
        x.toml:3 provider AWS
        x.toml:4 provider-class cloud
        x.toml:5 runs-per-month 3000
        x.toml:6 electricity 0.25
        ");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let wrong = [
            "\nreigon = 'x'",
            "gpu = 4",
            "gpu = [1]",
            "[gpu]",
            "electricity = true",
            "region = 1",
            "gpu",
            "a = 1\nb =",
        ];
        insta::assert_snapshot!(wrong.map(error).join("\n"), @r#"
        error: breakeven.toml:2: there is no setting `reigon`
         hint: did you mean `region`? settings are gpu, region, provider, provider-class, runs-per-month, electricity
        error: breakeven.toml:1: `gpu` is an integer, and takes a name or a list of names
         hint: write it like gpu = ["l4", "h100-sxm"]
        error: breakeven.toml:1: `gpu` is an array, and takes a name or a list of names
         hint: write it like gpu = ["l4", "h100-sxm"]
        error: breakeven.toml:1: `gpu` is a table, and takes a name or a list of names
         hint: write it like gpu = ["l4", "h100-sxm"]
        error: breakeven.toml:1: `electricity` is a boolean, and takes a number, or text with a unit
         hint: write it like electricity = 0.25
        error: breakeven.toml:1: `region` is an integer, and takes a name
         hint: write it like region = "eu-west-1"
        error: breakeven.toml:1 is no TOML: key with no value, expected `=`
         hint: a line is a setting and its value, as in gpu = ["l4", "h100-sxm"]
        error: breakeven.toml:2 is no TOML: string values must be quoted, expected literal string
         hint: a line is a setting and its value, as in gpu = ["l4", "h100-sxm"]
        "#);
    }
}
