//! Paths from ids.

use percent_encoding::utf8_percent_encode;

use super::RequestError;
use crate::operation::Resource;
use crate::percent::RESERVED;

/// A path that grows, or the first thing that was wrong with it.
pub(super) struct Path(Result<String, RequestError>);

impl Path {
    pub(super) fn root() -> Self {
        Self(Ok(String::new()))
    }

    pub(super) fn database(id: &str) -> Self {
        Self::root().resource("dbs", Resource::Database, id)
    }

    pub(super) fn container(database: &str, id: &str) -> Self {
        Self::database(database).resource("colls", Resource::Container, id)
    }

    pub(super) fn item(database: &str, container: &str, id: &str) -> Self {
        Self::container(database, container).resource("docs", Resource::Item, id)
    }

    /// Adds the keyword of a feed.
    pub(super) fn feed(self, keyword: &str) -> Self {
        Self(self.0.map(|mut path| {
            path.push('/');
            path.push_str(keyword);
            path
        }))
    }

    /// Adds a keyword and an id.
    pub(super) fn resource(self, keyword: &str, resource: Resource, id: &str) -> Self {
        Self(self.feed(keyword).0.and_then(|mut path| {
            check_id(resource, id)?;
            path.push('/');
            path.extend(utf8_percent_encode(id, RESERVED));
            Ok(path)
        }))
    }

    /// The path; the root's is `/`.
    pub(super) fn finish(self) -> Result<String, RequestError> {
        self.0.map(|path| {
            if path.is_empty() {
                "/".to_owned()
            } else {
                path
            }
        })
    }
}

/// Whether the service takes this id, and whether it is safe in a path.
pub(super) fn check_id(resource: Resource, id: &str) -> Result<(), RequestError> {
    if id.is_empty() {
        return Err(RequestError::EmptyId(resource));
    }
    if id == "." || id == ".." || id.contains(['/', '\\', '?', '#']) {
        return Err(RequestError::IllegalId(resource));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_that_the_service_refuses_are_refused() {
        assert!(matches!(
            Path::container("d", "").finish(),
            Err(RequestError::EmptyId(Resource::Container))
        ));
        for id in ["a/b", "a\\b", "a?", "#a", ".", ".."] {
            // The first mistake is told, however many follow.
            let error = Path::container(id, "").finish().unwrap_err();
            assert!(
                matches!(error, RequestError::IllegalId(Resource::Database)),
                "{id}"
            );
        }
        assert!(Path::item("..a", "a..", "...").finish().is_ok());
    }

    proptest! {
        #[test]
        fn ids_come_back_from_the_path(id in "[^/\\\\?#]{1,40}") {
            prop_assume!(id != "." && id != "..");
            let path = Path::item("d", "c", &id).finish().unwrap();
            let encoded = path.strip_prefix("/dbs/d/colls/c/docs/").unwrap();
            prop_assert!(!encoded.contains('/'));
            let decoded = percent_encoding::percent_decode_str(encoded).decode_utf8().unwrap();
            prop_assert_eq!(decoded, id);
            prop_assert!(http::Uri::try_from(path).is_ok());
        }
    }
}
