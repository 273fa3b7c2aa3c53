//! What a signature says about the resource: its type and its link.

use std::borrow::Cow;

use base64::alphabet::Alphabet;
use base64::engine::{Engine as _, GeneralPurpose, general_purpose::PAD};

use crate::operation::path;
use crate::percent::decode;

/// The type and the link of the resource that a signature is for.
///
/// A path that names one resource signs that resource; a path that names a feed signs the
/// feed's owner, with the type of what is in the feed:
///
/// | path | type | link |
/// |---|---|---|
/// | `/` | (empty) | (empty) |
/// | `/dbs` | `dbs` | (empty) |
/// | `/dbs/d/colls/c/docs` | `docs` | `dbs/d/colls/c` |
/// | `/dbs/d/colls/c/docs/a%20b` | `docs` | `dbs/d/colls/c/docs/a b` |
/// | `/dbs/d/colls/c/sprocs/s` | `sprocs` | `dbs/d/colls/c/sprocs/s` |
/// | `/dbs/d/colls/c/operations/partitionkeydelete` | `colls` | `dbs/d/colls/c` |
/// | `/offers/H3Vq` | `offers` | `h3vq` |
///
/// # Resource ids
///
/// The service also takes paths of resource ids (RIDs) in place of names, and signs the last of
/// them in lower case. A path is taken for one only if *every* id in it is a RID: base64 (with
/// `-` for `/`) of 4 bytes for a database, 8 for a container or user, 16 below those, each
/// beginning with the bytes of its owner. Names would have to nest in the same way to be mistaken
/// for RIDs. Offers have no names, so their ids are always RIDs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceLink<'p> {
    resource_type: &'p str,
    link: Cow<'p, str>,
}

impl<'p> ResourceLink<'p> {
    /// Reads type and link from a request's path, encoded, with or without a query string.
    ///
    /// The method plays no part. Paths that the service does not know are treated alike, so that
    /// it, and not this client, refuses them.
    #[must_use]
    pub fn from_path(path: &'p str) -> Self {
        let path = path::trim(path);
        if let Some(container) = path.strip_suffix("/operations/partitionkeydelete")
            && slashes(container) == 3
        {
            return Self {
                resource_type: "colls",
                link: link(container),
            };
        }
        let (owner, last) = path.rsplit_once('/').unwrap_or(("", path));
        if slashes(path).is_multiple_of(2) {
            Self {
                resource_type: last,
                link: link(owner),
            }
        } else {
            let resource_type = owner.rsplit('/').next().unwrap_or_default();
            Self {
                resource_type,
                link: link(path),
            }
        }
    }

    /// The type, such as `docs`; empty for the account.
    #[must_use]
    pub fn resource_type(&self) -> &str {
        self.resource_type
    }

    /// The link, unencoded and without slashes at its ends; empty for the account and its feeds.
    #[must_use]
    pub fn link(&self) -> &str {
        &self.link
    }
}

fn slashes(path: &str) -> usize {
    path.bytes().filter(|byte| *byte == b'/').count()
}

/// The link of the resource that a trimmed path names.
fn link(path: &str) -> Cow<'_, str> {
    if let Some(rid) = path.strip_prefix("offers/").map(decode) {
        return Cow::Owned(rid.to_ascii_lowercase());
    }
    match last_rid(path) {
        Some(rid) => Cow::Owned(rid.to_ascii_lowercase()),
        None => decode(path),
    }
}

/// The last id of a path of which every id is a RID.
fn last_rid(path: &str) -> Option<Cow<'_, str>> {
    /// How many bytes the RIDs of each level have.
    const LENGTHS: [usize; 3] = [4, 8, 16];

    let mut owner = Rid::default();
    let mut last = None;
    let mut lengths = LENGTHS.iter();
    for id in path.strip_prefix("dbs/")?.split('/').step_by(2) {
        let id = decode(id);
        let rid = Rid::parse(&id)?;
        if rid.len != *lengths.next()? || !rid.bytes().starts_with(owner.bytes()) {
            return None;
        }
        owner = rid;
        last = Some(id);
    }
    last
}

/// A resource id, decoded. Nothing is longer than what 24 characters of base64 decode to.
#[derive(Default)]
struct Rid {
    buffer: [u8; 18],
    len: usize,
}

impl Rid {
    fn parse(text: &str) -> Option<Self> {
        // Stricter than necessary: padding must be there, and bits that are not used must be 0.
        const RID: GeneralPurpose = GeneralPurpose::new(&ALPHABET, PAD);
        const ALPHABET: Alphabet =
            match Alphabet::new("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-")
            {
                Ok(alphabet) => alphabet,
                // Evaluated by the compiler: a mistake above would not build.
                Err(_) => panic!("64 different characters"),
            };
        // Most names are ruled out here.
        if text.len() > 24 || !text.len().is_multiple_of(4) {
            return None;
        }
        let mut rid = Self::default();
        rid.len = RID.decode_slice(text, &mut rid.buffer).ok()?;
        Some(rid)
    }

    fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_signs(path: &str, resource_type: &str, link: &str) {
        let signed = ResourceLink::from_path(path);
        assert_eq!(
            (signed.resource_type(), signed.link()),
            (resource_type, link),
            "{path}"
        );
    }

    #[test]
    fn resources_sign_themselves_and_feeds_sign_their_owner() {
        for (path, resource_type, link) in [
            ("/", "", ""),
            ("", "", ""),
            ("/dbs", "dbs", ""),
            ("/dbs/d", "dbs", "dbs/d"),
            ("/dbs/d/colls", "colls", "dbs/d"),
            ("/dbs/d/colls/c", "colls", "dbs/d/colls/c"),
            ("/dbs/d/colls/c/docs", "docs", "dbs/d/colls/c"),
            ("/dbs/d/colls/c/docs/", "docs", "dbs/d/colls/c"),
            ("/dbs/d/colls/c/docs?x=/y", "docs", "dbs/d/colls/c"),
            ("/dbs/d/colls/c/docs/i", "docs", "dbs/d/colls/c/docs/i"),
            ("/dbs/d/colls/c/docs/i/", "docs", "dbs/d/colls/c/docs/i"),
            ("/dbs/d/colls/c/pkranges", "pkranges", "dbs/d/colls/c"),
            ("/dbs/d/colls/c/sprocs", "sprocs", "dbs/d/colls/c"),
            (
                "/dbs/d/colls/c/sprocs/s",
                "sprocs",
                "dbs/d/colls/c/sprocs/s",
            ),
            (
                "/dbs/d/colls/c/operations/partitionkeydelete",
                "colls",
                "dbs/d/colls/c",
            ),
            ("/dbs/d/users/u/permissions", "permissions", "dbs/d/users/u"),
            ("/offers", "offers", ""),
            ("/offers/H3Vq", "offers", "h3vq"),
        ] {
            assert_signs(path, resource_type, link);
        }
    }

    #[test]
    fn links_are_decoded_and_keep_their_case() {
        let path = "/dbs/D/colls/docs/docs/%E6%97%A5%E6%9C%AC%20b%25c%2Bd";
        assert_signs(path, "docs", "dbs/D/colls/docs/docs/日本 b%c+d");
    }

    #[test]
    fn paths_of_rids_sign_the_last_one_in_lower_case() {
        assert_signs("/dbs/7ppXAA==", "dbs", "7ppxaa==");
        assert_signs("/dbs/7ppXAA==/colls", "colls", "7ppxaa==");
        assert_signs(
            "/dbs/7ppXAA%3D%3D/colls/7ppXAMJQqzg%3D/docs",
            "docs",
            "7ppxamjqqzg=",
        );
        let item = "/dbs/7ppXAA==/colls/7ppXAMJQqzg=/docs/7ppXAMJQqzgBAAAAAAAAAA==";
        assert_signs(item, "docs", "7ppxamjqqzgbaaaaaaaaaa==");
        let delete = "/dbs/7ppXAA==/colls/7ppXAMJQqzg=/operations/partitionkeydelete";
        assert_signs(delete, "colls", "7ppxamjqqzg=");
    }

    #[test]
    fn names_that_look_like_rids_stay_names_unless_everything_is_one() {
        for path in [
            // Not the length of a database's id.
            "/dbs/7ppXAMJQqzg=",
            // Bits after the last byte.
            "/dbs/abcdef==",
            // Names below a database that could be a RID.
            "/dbs/7ppXAA==/colls/Items",
            "/dbs/7ppXAA==/colls/7ppXAMJQqzg=/docs/One",
            // A container that belongs to another database.
            "/dbs/7ppXAA==/colls/AAAAAMJQqzg=",
            "/dbs/Shop",
        ] {
            let signed = ResourceLink::from_path(path);
            assert_eq!(signed.link(), path.trim_start_matches('/'));
        }
    }
}
