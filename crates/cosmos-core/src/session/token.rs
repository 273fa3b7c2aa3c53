//! The token of one range: parsing, printing, merging.

use std::fmt;
use std::str::FromStr;

use smallvec::SmallVec;

/// The most regions that a token may name.
const MAX_REGIONS: usize = 64;

/// How far one partition key range has got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionToken(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// A single LSN, from services that know no regions.
    Simple(i64),
    Vector(Vector),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Vector {
    /// The topology version; -1 right after a split.
    version: i64,
    global: u64,
    /// Local LSNs by region, sorted by region; -1 for no progress.
    regions: SmallVec<[(u64, i64); 4]>,
}

/// A text is no session token.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a session token")]
pub struct SessionTokenError;

impl SessionToken {
    /// Both tokens' progress in one.
    ///
    /// Of the same version: the greater of each number, for all regions of either. Of different
    /// versions: the newer one's regions and global LSN (a failover may have set it back), with
    /// the greater local LSN where both know a region.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        let merged = match (&self.0, &other.0) {
            (Kind::Simple(a), Kind::Simple(b)) => Kind::Simple(*a.max(b)),
            (Kind::Vector(a), Kind::Vector(b)) if a.version >= b.version => {
                Kind::Vector(a.merge_older(b))
            }
            (Kind::Vector(a), Kind::Vector(b)) => Kind::Vector(b.merge_older(a)),
            // The service has been upgraded meanwhile: regions say more.
            (Kind::Vector(vector), Kind::Simple(_)) | (Kind::Simple(_), Kind::Vector(vector)) => {
                Kind::Vector(vector.clone())
            }
        };
        Self(merged)
    }
}

impl Vector {
    /// Merges a token of the same version, or of an older one.
    fn merge_older(&self, older: &Self) -> Self {
        let mut merged = self.clone();
        let same = self.version == older.version;
        if same {
            merged.global = merged.global.max(older.global);
        }
        for (region, local) in &older.regions {
            match merged
                .regions
                .binary_search_by_key(region, |(region, _)| *region)
            {
                Ok(index) => {
                    let known = &mut merged.regions[index].1;
                    *known = (*known).max(*local);
                }
                Err(index) if same && merged.regions.len() < MAX_REGIONS => {
                    merged.regions.insert(index, (*region, *local));
                }
                Err(_) => {}
            }
        }
        merged
    }
}

impl FromStr for SessionToken {
    type Err = SessionTokenError;

    fn from_str(text: &str) -> Result<Self, SessionTokenError> {
        let Some((version, rest)) = text.split_once('#') else {
            let lsn = text.parse().map_err(|_| SessionTokenError)?;
            return Ok(Self(Kind::Simple(lsn)));
        };
        let mut parts = rest.split('#');
        let global = parts.next().unwrap_or_default();
        let mut regions = SmallVec::new();
        for part in parts {
            let (region, local) = part.split_once('=').ok_or(SessionTokenError)?;
            let region: u64 = region.parse().map_err(|_| SessionTokenError)?;
            let local: i64 = local.parse().map_err(|_| SessionTokenError)?;
            let known = regions.iter().any(|(known, _)| *known == region);
            if known || local < -1 || regions.len() == MAX_REGIONS {
                return Err(SessionTokenError);
            }
            regions.push((region, local));
        }
        let version: i64 = version.parse().map_err(|_| SessionTokenError)?;
        if version < -1 {
            return Err(SessionTokenError);
        }
        let global = global.parse().map_err(|_| SessionTokenError)?;
        regions.sort_unstable();
        Ok(Self(Kind::Vector(Vector {
            version,
            global,
            regions,
        })))
    }
}

impl fmt::Display for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Simple(lsn) => write!(f, "{lsn}"),
            Kind::Vector(vector) => {
                write!(f, "{}#{}", vector.version, vector.global)?;
                for (region, local) in &vector.regions {
                    write!(f, "#{region}={local}")?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(a: &str, b: &str) -> String {
        let [a, b]: [SessionToken; 2] = [a.parse().unwrap(), b.parse().unwrap()];
        let both = [a.merge(&b).to_string(), b.merge(&a).to_string()];
        assert_eq!(both[0], both[1], "the order does not matter");
        both[0].clone()
    }

    #[test]
    fn sentinels_round_trip() {
        for text in [
            "-1#42",
            "1#42#3=-1",
            "5#0",
            "7",
            "-1",
            "1#18446744073709551615#1=2#9=3",
        ] {
            assert_eq!(text.parse::<SessionToken>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn of_one_version_the_greater_of_each_number_counts() {
        assert_eq!(merged("1#10#1=5#2=7", "1#12#1=6#2=3"), "1#12#1=6#2=7");
        assert_eq!(
            merged("1#10#1=5", "1#9#2=3"),
            "1#10#1=5#2=3",
            "regions of either"
        );
        assert_eq!(merged("1#10#1=-1", "1#9#1=0"), "1#10#1=0");
        assert_eq!(merged("4", "9"), "9");
    }

    #[test]
    fn a_newer_version_wins_even_with_a_lower_global_lsn() {
        assert_eq!(merged("2#5#1=3", "1#90#1=8#7=1"), "2#5#1=8");
        assert_eq!(merged("-1#50#1=2", "0#3#1=1"), "0#3#1=2");
        assert_eq!(merged("3", "1#2#1=2"), "1#2#1=2");
    }

    #[test]
    fn what_is_no_token_is_an_error_and_never_a_panic() {
        for text in [
            "",
            "#",
            "1#",
            "#1",
            "1#2#",
            "1#2#3",
            "1#2#3=",
            "1#2#=3",
            "a#b",
            "1#-1",
            "-2#1",
            "1#2#3=-2",
            "1#2#3=4#3=5",
            "1#99999999999999999999",
            "1 #2",
        ] {
            assert!(text.parse::<SessionToken>().is_err(), "{text:?}");
        }
        let many: Vec<_> = (0..100).map(|region| format!("#{region}=1")).collect();
        assert!(
            format!("1#1{}", many.concat())
                .parse::<SessionToken>()
                .is_err()
        );
    }
}
