//! A partition's write region moves: per-partition automatic failover (PPAF).
//!
//! An account with one write region can move single partitions to another region when theirs
//! fails, while the rest stay. A client that knows only the account's write region is answered
//! 403/3, or not at all, and gives up on a partition that is well. With this layer, the writes of
//! such an account may go to every region: a retry that moves finds the one that accepts the
//! partition's writes, and once a write is confirmed there, the next one goes straight there
//! (retry specification, "Per-Partition Automatic Failover").
//!
//! It acts only where the account document says so (the flag is followed while the client runs, as of
//! the next account read, in 5 min at most; off forgets everything), on writes of items that name their partition. It learns only from answers
//! that nobody but the partition's write region gives; what it remembers may be wrong, which costs
//! one retry.
//!
//! It finds partitions that have moved; it does not move them. While one hangs in the hub and has not
//! moved yet, each of its writes still costs the limit of an attempt there.
//!
//! ```
//! use tower_cosmos::{Account, PpafLayer};
//!
//! # fn compose(account: Account) {
//! let layer = PpafLayer::new(account);
//! # }
//! ```
//!
//! # Order
//! Anywhere above `EndpointLayer`, which asks and tells its memory. `RegionFailoverLayer` makes the
//! retries that find a moved partition; `PartitionLayer`, outside, tells which partition it is.
//! Without a known partition nothing is remembered.
//!
//! # Cancellation
//! Nothing is learned from an attempt that was dropped.
//!
//! # Extensions
//! Plants its memory in the operation's [`Route`](cosmos_core::Route).

mod layer;
mod memory;

pub use layer::{Ppaf, PpafLayer, PpafPreparation};
pub use memory::WriteRegions;
