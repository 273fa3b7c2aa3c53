//! The account's moves as JSON.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::embedded::builder::WriteMode;
use crate::embedded::moves::{AccountMoves, MoveError};

/// One of [`AccountMoves`]' methods with its arguments, named by `move`. Locks are in milliseconds.
#[derive(Debug, Deserialize)]
#[serde(tag = "move", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Move {
    FailOver { region: String },
    AnnounceFailover { region: String },
    BeginFailover { region: String },
    CompleteFailover {},
    SetWriteMode { mode: WriteMode },
    SetPerPartitionFailover { enabled: bool },
    SetHedgingDisabled { disabled: Option<bool> },
    ReassignRange(Reassign),
    RestoreRange(Restore),
    TakeOffline { region: String },
    BringOnline { region: String },
    BeginRemoval { region: String },
    CancelRemoval { region: String },
    RemoveRegion { region: String },
    AddRegion { region: String },
    PauseReplication { region: String },
    ResumeReplication { region: String },
    SessionNotAvailable { region: String, lags: bool },
    SessionNotAvailableOnce(LogicalPartition),
    SplitPartition(Split),
    MergePartitions(Merge),
    ReplaceContainer(Replace),
}

#[derive(Debug, Deserialize)]
pub(super) struct Restore {
    database: String,
    container: String,
    range: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Reassign {
    database: String,
    container: String,
    range: String,
    region: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct LogicalPartition {
    region: String,
    database: String,
    container: String,
    partition_key: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Split {
    database: String,
    container: String,
    partition: u32,
    #[serde(default)]
    lock_ms: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Merge {
    database: String,
    container: String,
    partitions: (u32, u32),
    #[serde(default)]
    lock_ms: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Replace {
    database: String,
    container: String,
    partition_key_path: String,
    physical_partitions: u32,
}

impl Move {
    /// Makes the move, and tells what its method returned.
    pub(super) async fn make(self, moves: &AccountMoves) -> Result<Value, MoveError> {
        match self {
            Self::FailOver { region } => moves.fail_over(&region)?,
            Self::AnnounceFailover { region } => moves.announce_failover(&region)?,
            Self::BeginFailover { region } => moves.begin_failover(&region)?,
            Self::CompleteFailover {} => moves.complete_failover(),
            Self::SetWriteMode { mode } => moves.set_write_mode(mode),
            Self::SetPerPartitionFailover { enabled } => moves.set_per_partition_failover(enabled),
            Self::SetHedgingDisabled { disabled } => moves.set_hedging_disabled(disabled),
            Self::ReassignRange(to) => {
                moves.reassign_range(&to.database, &to.container, &to.range, &to.region)?;
            }
            Self::RestoreRange(of) => {
                let restored = moves.restore_range(&of.database, &of.container, &of.range);
                return Ok(json!(restored));
            }
            Self::TakeOffline { region } => moves.take_offline(&region).await?,
            Self::BringOnline { region } => moves.bring_online(&region).await?,
            Self::BeginRemoval { region } => moves.begin_removal(&region)?,
            Self::CancelRemoval { region } => moves.cancel_removal(&region)?,
            Self::RemoveRegion { region } => moves.remove_region(&region)?,
            Self::AddRegion { region } => return Ok(json!(moves.add_region(&region)?)),
            Self::PauseReplication { region } => moves.pause_replication(&region)?,
            Self::ResumeReplication { region } => moves.resume_replication(&region).await?,
            Self::SessionNotAvailable { region, lags } => {
                moves.session_not_available(&region, lags)?;
            }
            Self::SessionNotAvailableOnce(of) => moves.session_not_available_once(
                &of.region,
                &of.database,
                &of.container,
                &of.partition_key,
            )?,
            Self::SplitPartition(of) => {
                let lock = Duration::from_millis(of.lock_ms);
                let children =
                    moves.split_partition(&of.database, &of.container, of.partition, lock);
                return Ok(json!(children.await?));
            }
            Self::MergePartitions(of) => {
                let lock = Duration::from_millis(of.lock_ms);
                let child =
                    moves.merge_partitions(&of.database, &of.container, of.partitions, lock);
                return Ok(json!(child.await?));
            }
            Self::ReplaceContainer(with) => {
                let (path, partitions) = (&with.partition_key_path, with.physical_partitions);
                let replaced =
                    moves.replace_container(&with.database, &with.container, path, partitions);
                replaced.await?;
            }
        }
        Ok(Value::Null)
    }
}
