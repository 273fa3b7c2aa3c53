//! Who makes something of an attempt's failure: per partition where that is possible, so that one
//! sick or moved partition does not darken its endpoint for all others.

use crate::selection::{Scope, access};
use crate::{Operation, Oversight, Topology, write_regions};

/// What oversees an attempt, given what is in the stack.
///
/// A breaker oversees documents, where there is another region to go to: reads, and writes if every
/// region accepts them ("Per-Partition Circuit Breaker"). The writes of a single-write account belong
/// to the memory of write regions ("Per-Partition Automatic Failover"), so no request has both.
#[must_use]
pub fn oversight(
    topology: &Topology,
    operation: Operation,
    breaker: bool,
    memory: bool,
) -> Oversight {
    if memory && may_have_moved(topology, operation) {
        return Oversight::WriteRegion;
    }
    if !breaker {
        return Oversight::Endpoint;
    }
    if operation.is_metadata() {
        return Oversight::Metadata;
    }
    let has_choice = topology.order(access(operation)).len() > 1;
    if has_choice && (operation.is_read() || topology.is_multi_write()) {
        Oversight::Circuit
    } else {
        Oversight::Endpoint
    }
}

/// Whether the account may have moved the operation's partition to another write region.
#[must_use]
pub fn may_have_moved(topology: &Topology, operation: Operation) -> bool {
    moves_partitions(topology) && write_regions::eligible(operation)
}

/// Whether the account moves partitions to other write regions.
#[must_use]
pub fn moves_partitions(topology: &Topology) -> bool {
    topology.has_per_partition_failover()
        && !topology.is_multi_write()
        && topology.write_order_everywhere().len() > 1
}

/// Which regions an attempt that is overseen in this way may go to.
#[must_use]
pub const fn scope(oversight: Oversight) -> Scope {
    match oversight {
        Oversight::WriteRegion => Scope::Everywhere,
        _ => Scope::Listed,
    }
}
