//! What a request does, read from its method, path and headers.
//!
//! Every decision of a resilient client depends on it: a read may go where a write may not, a
//! stored procedure that may have run is never sent again, an account read has no partition.
//! Nothing outside the request tells: the same `POST …/docs` is a create, an upsert, a query, the
//! plan of a query or a batch.
//!
//! ```
//! use cosmos_core::operation::{Action, Operation, Resource};
//! use http::{HeaderMap, Method};
//!
//! let read = Operation::classify(&Method::GET, "/dbs/shop/colls/carts/docs/42", &HeaderMap::new());
//! assert_eq!(read, Some(Operation::new(Action::Read, Resource::Item)));
//!
//! let foreign = Operation::classify(&Method::GET, "/health", &HeaderMap::new());
//! assert_eq!(foreign, None);
//! ```

use std::borrow::Cow;

use http::{HeaderMap, Method};

use crate::percent::decode;

mod classify;
pub(crate) mod path;

/// What a request is about.
#[non_exhaustive]
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// The database account: its regions and settings.
    Account,
    /// A database, or the list of them.
    Database,
    /// A container (`colls`), or a database's list of them.
    Container,
    /// An item (`docs`), or a container's items.
    Item,
    /// A stored procedure (`sprocs`).
    StoredProcedure,
    /// A trigger.
    Trigger,
    /// A user-defined function (`udfs`).
    UserDefinedFunction,
    /// A container's physical partitions (`pkranges`).
    PartitionKeyRange,
    /// A conflict between writes of several regions.
    Conflict,
    /// The deletion of everything that has one partition key.
    PartitionKeyDelete,
    /// A user of a database.
    User,
    /// A permission of a user.
    Permission,
    /// A key for encryption on the client's side.
    ClientEncryptionKey,
    /// An offer: the throughput of a database or container.
    Offer,
}

/// What a request wants done.
#[non_exhaustive]
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A GET of one resource.
    Read,
    /// A HEAD: a read without its body.
    Head,
    /// A GET of a list of resources.
    ReadFeed,
    /// A GET of what changed in a container.
    ChangeFeed,
    /// A query.
    Query,
    /// How a query would be run: a read, although it is a POST.
    QueryPlan,
    /// A new resource.
    Create,
    /// A new resource, or a new version of it.
    Upsert,
    /// A new version of a resource.
    Replace,
    /// A change of parts of a resource.
    Patch,
    /// The end of a resource.
    Delete,
    /// Several operations on one partition key.
    Batch,
    /// The execution of a stored procedure.
    Execute,
    /// The end of everything that has one partition key.
    DeleteByPartitionKey,
}

impl Action {
    const fn is_read(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::Head
                | Self::ReadFeed
                | Self::ChangeFeed
                | Self::Query
                | Self::QueryPlan
        )
    }
}

/// What a request does: an [`Action`] on a [`Resource`], and whether it names its partition.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    action: Action,
    resource: Resource,
    names_partition: bool,
}

impl Operation {
    /// An operation that does not say which partition it is for; see
    /// [`with_partition`](Self::with_partition).
    #[must_use]
    pub const fn new(action: Action, resource: Resource) -> Self {
        Self {
            action,
            resource,
            names_partition: false,
        }
    }

    /// The same operation, with or without a partition key or a partition key range named in its
    /// headers.
    #[must_use]
    pub const fn with_partition(self, named: bool) -> Self {
        Self {
            names_partition: named,
            ..self
        }
    }

    /// Reads the operation from a request.
    ///
    /// `path` may be encoded, may carry a query string (which is ignored) and may end in a slash.
    /// Keywords count at their places only, so an item may be called `docs`. Booleans in headers
    /// are read in any case.
    ///
    /// `None` means that the request is nothing of Cosmos DB: its path begins otherwise, has a
    /// keyword that the service does not know, or its method fits nothing that the path names.
    #[must_use]
    pub fn classify(method: &Method, path: &str, headers: &HeaderMap) -> Option<Self> {
        classify::classify(method, path, headers)
    }

    /// The container that a path is in or names, its ids decoded, such as `dbs/shop/colls/carts`.
    #[must_use]
    pub fn container_of(path: &str) -> Option<String> {
        Self::container_in(path).map(Cow::into_owned)
    }

    /// The same; a piece of the path if that names it as it is.
    pub(crate) fn container_in(path: &str) -> Option<Cow<'_, str>> {
        let mut buffer = [""; path::LONGEST];
        let ["dbs", database, "colls", container, ..] = path::split(path, &mut buffer)? else {
            return None;
        };
        let [database, container] = [*database, *container].map(decode);
        // An id has no slash, so this would be another container's link.
        if database.contains('/') || container.contains('/') {
            return None;
        }
        let link = path::trim(path);
        let length = "dbs/".len() + database.len() + "/colls/".len() + container.len();
        Some(match (&database, &container) {
            (Cow::Borrowed(_), Cow::Borrowed(_)) => Cow::Borrowed(&link[..length]),
            _ => Cow::Owned(["dbs/", &database, "/colls/", &container].concat()),
        })
    }

    /// The operation of a request that no rule classifies, but which the caller means for the
    /// account: metadata, a read if the method is safe.
    #[must_use]
    pub fn unclassified(method: &Method) -> Self {
        if method.is_safe() {
            Self::new(Action::Read, Resource::Account)
        } else {
            Self::new(Action::Replace, Resource::Account)
        }
    }

    /// What is to be done.
    #[must_use]
    pub const fn action(self) -> Action {
        self.action
    }

    /// What it is to be done to.
    #[must_use]
    pub const fn resource(self) -> Resource {
        self.resource
    }

    /// Whether nothing changes: reads, feeds, change feeds, queries and their plans.
    #[must_use]
    pub const fn is_read(self) -> bool {
        self.action.is_read()
    }

    /// Whether something may change: everything that is not [a read](Self::is_read).
    #[must_use]
    pub const fn is_write(self) -> bool {
        !self.is_read()
    }

    /// Whether this is about the account's structure and not about data: everything that is not
    /// [`is_document`](Self::is_document).
    #[must_use]
    pub const fn is_metadata(self) -> bool {
        !self.is_document()
    }

    /// Whether this is about data: operations on items (but not the plan of a query), on
    /// conflicts, the deletion by partition key, and the execution of a stored procedure.
    #[must_use]
    pub const fn is_document(self) -> bool {
        match self.resource {
            Resource::Item => !matches!(self.action, Action::QueryPlan),
            Resource::Conflict | Resource::PartitionKeyDelete => true,
            Resource::StoredProcedure => self.is_stored_procedure_execution(),
            _ => false,
        }
    }

    /// Whether this runs a stored procedure. The service gives no way to tell whether a script
    /// ran, so such a request is sent again only when it certainly did not.
    #[must_use]
    pub const fn is_stored_procedure_execution(self) -> bool {
        matches!(
            (self.action, self.resource),
            (Action::Execute, Resource::StoredProcedure)
        )
    }

    /// Whether this belongs to one partition: it [is about data](Self::is_document), and a
    /// partition key or the id of a partition key range was in its headers.
    ///
    /// A prefix of a hierarchical partition key counts, too: only the container's definition
    /// tells it apart.
    #[must_use]
    pub const fn is_partition_scoped(self) -> bool {
        self.names_partition && self.is_document()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_data_is_partition_scoped_even_if_a_partition_is_named() {
        let scoped = |action, resource| {
            Operation::new(action, resource)
                .with_partition(true)
                .is_partition_scoped()
        };
        assert!(scoped(Action::Read, Resource::Item));
        assert!(scoped(Action::Execute, Resource::StoredProcedure));
        assert!(scoped(
            Action::DeleteByPartitionKey,
            Resource::PartitionKeyDelete
        ));
        assert!(scoped(Action::Read, Resource::Conflict));
        assert!(!scoped(Action::QueryPlan, Resource::Item));
        assert!(!scoped(Action::Replace, Resource::StoredProcedure));
        assert!(!scoped(Action::ReadFeed, Resource::PartitionKeyRange));
        assert!(!Operation::new(Action::Read, Resource::Item).is_partition_scoped());
    }

    #[test]
    fn the_plan_of_a_query_is_a_read_of_metadata() {
        let plan = Operation::new(Action::QueryPlan, Resource::Item);
        assert!(plan.is_read() && !plan.is_write());
        assert!(plan.is_metadata() && !plan.is_document());
    }
}
