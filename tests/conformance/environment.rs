//! The breaker's environment variables: what they set, and which of two counts.

use cosmos_core::Access;
use cosmos_core::health::{BreakerOptions, BreakerSettings};
use cosmos_tests::s;

use crate::table::cells;

/// Variables, what code sets, and the setting that comes of both.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) variables: String,
    pub(crate) code: String,
    pub(crate) setting: String,
}

impl Line {
    pub(crate) fn read(line: &str) -> Self {
        let [variables, code, setting] = cells(line);
        Self {
            variables,
            code,
            setting,
        }
    }

    pub(crate) fn name(&self) -> String {
        let Self {
            variables,
            code,
            setting,
        } = self;
        format!("Environment | {variables} | {code} => {setting}")
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let variables: Vec<(&str, &str)> = assignments(&self.variables).collect();
        let lookup = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let settings = options(&self.code).resolve(lookup);
        let settings = settings.map_err(|error| error.to_string())?;
        for (name, wanted) in assignments(&self.setting) {
            let got = shown(&settings, name);
            if got != wanted {
                return Err(format!("{name} is {got}, not {wanted}"));
            }
        }
        Ok(())
    }
}

/// `name=value`, separated by blanks; a value in quotes may hold blanks.
fn assignments(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (name, from) = rest.trim_start().split_once('=')?;
        let (value, behind) = match from.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => from.split_once(' ').unwrap_or((from, "")),
        };
        rest = behind;
        Some((name, value))
    })
}

fn options(code: &str) -> BreakerOptions {
    let number = |value: &str| value.parse::<u32>().expect("a number");
    assignments(code).fold(BreakerOptions::new(), |options, (name, value)| match name {
        "enabled" => options.enabled(value == "true"),
        "reads_tolerated" => options.reads_tolerated(number(value)),
        "writes_tolerated" => options.writes_tolerated(number(value)),
        "first_wait" => options.first_wait(s(number(value).into())),
        "next_wait" => options.next_wait(s(number(value).into())),
        _ => panic!("no option: {name}"),
    })
}

fn shown(settings: &BreakerSettings, name: &str) -> String {
    match name {
        "enabled" => settings.enabled().to_string(),
        "reads_tolerated" => settings.tolerated(Access::Read).to_string(),
        "writes_tolerated" => settings.tolerated(Access::Write).to_string(),
        "failure_percentage" => settings.failure_percentage().to_string(),
        "min_requests" => settings.min_requests().to_string(),
        "window" => format!("{:?}", settings.window()),
        "first_wait" => format!("{:?}", settings.first_wait()),
        "next_wait" => format!("{:?}", settings.next_wait()),
        _ => panic!("no setting: {name}"),
    }
}
