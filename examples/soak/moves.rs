//! What an account does while clients talk to it, each move with what takes it back.

use std::error::Error;

use serde_json::{Value, json};

use crate::control::Control;
use crate::serve::{CONTAINER, DATABASE, PARTITIONS, REGIONS};

/// How long a partition is locked while it splits or merges.
const LOCK_MS: u64 = 200;

/// Moves the account, and knows its partition key ranges.
#[derive(Clone, Debug)]
pub(crate) struct Moves {
    whole: Vec<u32>,
    // What one range was split into.
    halves: Vec<(u32, u32)>,
}

impl Default for Moves {
    fn default() -> Self {
        Self {
            whole: (0..PARTITIONS).collect(),
            halves: Vec::new(),
        }
    }
}

impl Moves {
    /// One of the ranges that there are now.
    pub(crate) fn some_range(&self, random: &mut fastrand::Rng) -> u32 {
        let halves = self.halves.iter().flat_map(|(one, other)| [*one, *other]);
        let ranges: Vec<u32> = self.whole.iter().copied().chain(halves).collect();
        ranges[random.usize(0..ranges.len())]
    }

    /// Makes a random move, and gives what is to be made to take it back.
    pub(crate) async fn make(
        &mut self,
        control: &Control,
        random: &mut fastrand::Rng,
    ) -> Result<Vec<Value>, Box<dyn Error>> {
        let (hub, others) = (REGIONS[0], &REGIONS[1..]);
        let region = others[random.usize(0..others.len())];
        let on_region = |name: &str, region: &str| json!({ "move": name, "region": region });
        let (there, back) = match random.u32(0..11) {
            0 => (
                vec![on_region("fail_over", region)],
                vec![on_region("fail_over", hub)],
            ),
            1 => (
                vec![
                    on_region("announce_failover", region),
                    on_region("begin_failover", region),
                ],
                vec![
                    json!({ "move": "complete_failover" }),
                    on_region("fail_over", hub),
                ],
            ),
            2 => (
                vec![on_region("take_offline", region)],
                vec![on_region("bring_online", region)],
            ),
            3 => (
                vec![on_region("begin_removal", region)],
                vec![on_region("cancel_removal", region)],
            ),
            4 => (
                vec![on_region("remove_region", region)],
                vec![on_region("add_region", region)],
            ),
            5 => (
                vec![json!({ "move": "set_write_mode", "mode": "multi" })],
                vec![json!({ "move": "set_write_mode", "mode": "single" })],
            ),
            6 => {
                let range = self.some_range(random).to_string();
                (
                    vec![on_range("reassign_range", &range, Some(region))],
                    vec![on_range("restore_range", &range, None)],
                )
            }
            7 => (
                vec![on_region("pause_replication", region)],
                vec![on_region("resume_replication", region)],
            ),
            8 => {
                let lags = |lags| json!({ "move": "session_not_available", "region": region, "lags": lags });
                (vec![lags(true)], vec![lags(false)])
            }
            _ => {
                self.split_or_merge(control, random).await?;
                (Vec::new(), Vec::new())
            }
        };
        for wanted in there {
            control.make(&wanted).await?;
        }
        Ok(back)
    }

    async fn split_or_merge(
        &mut self,
        control: &Control,
        random: &mut fastrand::Rng,
    ) -> Result<(), Box<dyn Error>> {
        let place = json!({ "database": DATABASE, "container": CONTAINER, "lock_ms": LOCK_MS });
        let mut wanted = place;
        if let Some((one, other)) = self.halves.pop() {
            wanted["move"] = "merge_partitions".into();
            wanted["partitions"] = json!([one, other]);
            let merged = control.make(&wanted).await?;
            self.whole.push(serde_json::from_value(merged)?);
        } else {
            let range = self.whole.remove(random.usize(0..self.whole.len()));
            wanted["move"] = "split_partition".into();
            wanted["partition"] = range.into();
            let halves = control.make(&wanted).await?;
            self.halves.push(serde_json::from_value(halves)?);
        }
        Ok(())
    }
}

fn on_range(name: &str, range: &str, region: Option<&str>) -> Value {
    let mut wanted = json!({
        "move": name, "database": DATABASE, "container": CONTAINER, "range": range
    });
    if let Some(region) = region {
        wanted["region"] = region.into();
    }
    wanted
}
