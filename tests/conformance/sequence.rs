//! Sequences: operations one after another, and what happens to the account in between.

use std::time::Duration;

use cosmos_core::OperationOptions;
use cosmos_testbed::scripted::{Document, Step as Answer};
use cosmos_tests::{Lab, ms, recommended, s, unguarded, with};

use crate::regions;
use crate::row::Operation;
use crate::run;
use crate::table::cells;

/// A sequence as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) what: String,
    pub(crate) account: String,
    pub(crate) steps: String,
}

/// A sequence on one account.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) section: String,
    account: String,
    line: Line,
}

#[derive(Debug)]
enum Step {
    /// A region does this from now on, after what it was to do before.
    Script(String, Vec<Answer>),
    /// A region is well again.
    Heal(String),
    Wait(Duration),
    /// The account is another one, and was read anew.
    Becomes(Document),
    Send(Send),
}

/// So many operations, one after the other, each with this to be seen.
#[derive(Debug)]
struct Send {
    count: usize,
    operation: Operation,
    options: OperationOptions,
    asked: String,
    surfaced: String,
}

impl Line {
    pub(crate) fn read(line: &str) -> Self {
        let [what, account, steps] = cells(line);
        Self {
            what,
            account,
            steps,
        }
    }

    /// The sequences of the line, one for each kind of account.
    pub(crate) fn sequences(&self, section: &str) -> Vec<Sequence> {
        let accounts: &[&str] = match self.account.as_str() {
            "both" => &["single", "multi"],
            account => &[account],
        };
        let sequence = |account: &&str| Sequence {
            section: section.to_owned(),
            account: (*account).to_owned(),
            line: self.clone(),
        };
        accounts.iter().map(sequence).collect()
    }
}

impl Sequence {
    pub(crate) fn name(&self) -> String {
        let Line { what, steps, .. } = &self.line;
        format!("{} | {what} on {} | {steps}", self.section, self.account)
    }

    pub(crate) async fn check(&self) -> Result<(), String> {
        let (kind, guarded) = match self.account.strip_suffix(" unguarded") {
            Some(kind) => (kind, false),
            None => (&*self.account, true),
        };
        let layers = if guarded { recommended } else { unguarded };
        let lab = Lab::around(document(kind), |account| account, layers);
        lab.account.refresh().await;
        for word in self.line.steps.split(';').map(str::trim) {
            let step = Step::read(word);
            step.perform(&lab)
                .await
                .map_err(|problem| format!("{word}: {problem}\nthe wire:\n{}", lab.wire()))?;
        }
        Ok(())
    }
}

impl Step {
    fn read(text: &str) -> Self {
        if let Some(time) = text.strip_prefix("wait ") {
            return Self::Wait(duration(time));
        }
        if let Some(kind) = text.strip_prefix("becomes ") {
            return Self::Becomes(document(kind));
        }
        if let Some((sent, seen)) = text.split_once("->") {
            return Self::Send(Send::read(sent.trim(), seen.trim()));
        }
        let (region, steps) = text.split_once(':').expect("a step");
        if steps == "well" {
            return Self::Heal(region.to_owned());
        }
        let steps = match steps.rsplit_once(" x") {
            Some((step, count)) => {
                let count = count.parse().expect("how often");
                std::iter::repeat_n(regions::steps(step), count)
                    .flatten()
                    .collect()
            }
            None => regions::steps(steps),
        };
        Self::Script(region.to_owned(), steps)
    }

    async fn perform(self, lab: &Lab) -> Result<(), String> {
        match self {
            Self::Script(region, steps) => lab.regions.script(&region, steps),
            Self::Heal(region) => lab.regions.heal(&region),
            Self::Wait(time) => tokio::time::sleep(time).await,
            Self::Becomes(document) => {
                lab.regions.set_document(document);
                // Until a refresh may be made again.
                tokio::time::sleep(s(6)).await;
                lab.account.refresh().await;
            }
            Self::Send(send) => {
                for number in 1..=send.count {
                    send.once(lab)
                        .await
                        .map_err(|problem| format!("operation {number}: {problem}"))?;
                }
            }
        }
        Ok(())
    }
}

impl Send {
    fn read(sent: &str, seen: &str) -> Self {
        let (asked, surfaced) = seen.split_once('=').unwrap_or((seen, "ok"));
        let mut operations = Self {
            count: 1,
            operation: Operation::Read,
            options: OperationOptions::new(),
            asked: asked.trim().to_owned(),
            surfaced: surfaced.trim().to_owned(),
        };
        for word in sent.split_whitespace() {
            let options = operations.options.clone();
            if let Some(regions) = word.strip_prefix("not=") {
                let excluded = options.exclude_regions(regions.split(','));
                operations.options = excluded.expect("good names");
            } else if let Some(count) = word.strip_suffix('x') {
                operations.count = count.parse().expect("how often");
            } else if word.starts_with(|first: char| first.is_ascii_digit()) {
                operations.options = options.partition_key_range(word);
            } else {
                operations.operation = Operation::read(word)[0];
            }
        }
        operations
    }

    async fn once(&self, lab: &Lab) -> Result<(), String> {
        lab.regions.clear_wire();
        let request = with(self.operation.request(), self.options.clone());
        let seen = lab.send(request).await;
        let wire = lab.wire();
        let problems = [
            run::regions_asked(&self.asked, &wire),
            run::surfaced(&self.surfaced, &seen),
            run::replays(&wire),
            run::journal(&seen, &wire),
        ];
        let problems: Vec<String> = problems.into_iter().flatten().collect();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems.join("\n"))
        }
    }
}

fn document(kind: &str) -> Document {
    let all = ["A", "B", "C"];
    match kind {
        "single" => Document::single_write(all),
        "multi" => Document::multi_write(all),
        "ppaf" => Document::single_write(all).per_partition_failover(true),
        "ppaf, hub C" => document("ppaf").writable(["C"]),
        "one region" => Document::multi_write(["A"]),
        "one region, ppaf" => Document::single_write(["A"]).per_partition_failover(true),
        _ => panic!("no account: {kind}"),
    }
}

fn duration(text: &str) -> Duration {
    let number = |digits: &str| digits.parse().expect("a time");
    match text.strip_suffix("ms") {
        Some(digits) => ms(number(digits)),
        None => s(number(text.strip_suffix('s').expect("a unit"))),
    }
}
