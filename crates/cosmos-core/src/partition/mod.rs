//! Which partition an operation is for.
//!
//! A container's items are spread over physical partitions, its *partition key ranges*. Only they
//! fail over, split and lag on their own, so state that is kept per partition needs the range of an
//! operation, and the operation only says its partition key. The way is
//!
//! 1. [`ContainerProperties`], read from the container's document: how keys are hashed;
//! 2. [`PartitionKeyDefinition::effective`]: where the key lies, an [`Epk`] or, for the beginning
//!    of a hierarchical key, the range between two;
//! 3. [`RangeMap::find_target`]: which range that is, if it is one.
//!
//! Where a step has no answer, the operation goes on without a range: none is better than a wrong
//! one.

mod container;
mod epk;
mod hash;
mod id;
mod key;
mod range_map;

pub use container::{ContainerError, ContainerProperties};
pub use epk::{Epk, EpkError};
pub use id::{Partition, RangeId};
pub use key::{EpkTarget, PartitionKeyDefinition, PartitionKeyDefinitionError, PartitionKeyKind};
pub use range_map::{RangeMap, RangeMapError, RangePage};
