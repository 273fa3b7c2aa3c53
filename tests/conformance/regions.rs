//! What the regions do, read from a row's words.

use cosmos_core::{FailureKind, OperationOptions};
use cosmos_testbed::scripted::{Document, Step};
use cosmos_tests::ms;

use crate::row::Account;

/// The circumstances of a row.
#[derive(Debug)]
pub(crate) struct Circumstances {
    pub(crate) steps: Vec<(String, Vec<Step>)>,
    pub(crate) preferred: Vec<String>,
    pub(crate) options: OperationOptions,
    /// The account document from the operation on.
    pub(crate) document: Option<Document>,
    /// Whether there is a breaker in the stack.
    pub(crate) guarded: bool,
}

pub(crate) fn document(account: Account) -> Document {
    match account {
        Account::Single => Document::single_write(["A", "B", "C"]),
        Account::Multi => Document::multi_write(["A", "B", "C"]),
    }
}

pub(crate) fn read(text: &str) -> Circumstances {
    let mut circumstances = Circumstances {
        steps: Vec::new(),
        preferred: list("A,B,C"),
        options: OperationOptions::new(),
        document: None,
        guarded: true,
    };
    for word in text.split_whitespace() {
        if let Some((name, value)) = word.split_once('=') {
            circumstances.set(name, value);
        } else if word == "unguarded" {
            circumstances.guarded = false;
        } else if word == "strict" {
            circumstances.options = circumstances.options.strict_exclusions(true);
        } else {
            let (region, steps) = word.split_once(':').expect("region and steps");
            circumstances
                .steps
                .push((region.to_owned(), self::steps(steps)));
        }
    }
    circumstances
}

impl Circumstances {
    fn set(&mut self, name: &str, value: &str) {
        match name {
            "pref" => self.preferred = list(value),
            "not" => {
                let options = self.options.clone().exclude_regions(list(value));
                self.options = options.expect("good names");
            }
            "timeout" => {
                let timeout = ms(value.parse().expect("milliseconds"));
                self.options = self.options.clone().timeout(timeout);
            }
            "doc" => self.document = Some(changed(value)),
            _ => panic!("no circumstance: {name}"),
        }
    }
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::to_owned).collect()
}

fn changed(text: &str) -> Document {
    let (kind, regions) = text
        .strip_suffix(')')
        .and_then(|text| text.split_once('('))
        .expect(text);
    let all = Document::single_write(["A", "B", "C"]);
    match kind {
        "single" if regions.contains(',') => all.writable(list(regions).into_iter().take(1)),
        "single" => Document::single_write(list(regions)),
        "listed" => all.writable(list(regions)),
        _ => panic!("no document: {text}"),
    }
}

/// `503,429(20)*`: steps in order; a star makes one last for ever.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    text.split(',')
        .map(|word| match word.strip_suffix('*') {
            Some(word) => step(word).forever(),
            None => step(word),
        })
        .collect()
}

fn step(word: &str) -> Step {
    let kind = match word {
        "hang" => return Step::hang(),
        "cut" => return Step::status(200, 0).breaking(),
        "refused" => FailureKind::Refused,
        "dns" => FailureKind::Dns,
        "tls" => FailureKind::Tls,
        "connect-timeout" => FailureKind::ConnectTimeout,
        "reset" => FailureKind::Reset,
        "attempt-timeout" => FailureKind::AttemptTimeout,
        _ => return status(word),
    };
    Step::fail(kind)
}

fn status(word: &str) -> Step {
    let (status, hint) = match word.split_once('(') {
        Some((status, hint)) => (status, hint.strip_suffix(')')),
        None => (word, None),
    };
    let (code, substatus) = status.split_once('/').unwrap_or((status, "0"));
    let step = Step::status(code.parse().expect(word), substatus.parse().expect(word));
    match hint {
        Some(hint) => step.hint(hint),
        None => step,
    }
}
