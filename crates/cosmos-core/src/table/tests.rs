//! What the table promises about memory and sweeping, which its users cannot see.

use std::cell::Cell;
use std::collections::HashMap;

use super::shard::Shard;
use super::{NoRoom, SHARDS, Table};
use crate::health::Health;
use crate::{Partition, RangeId, Region};

const LINK: &str = "dbs/shop/colls/carts";

fn at<'a>(link: &'a str, range: &'a RangeId) -> Partition<'a> {
    Partition {
        container: link,
        range: Some(range),
    }
}

/// A shard with the ranges 0, 1, 2 ... of one container, each with its number as its value.
fn numbered(entries: u32) -> Shard<u8, u32> {
    let mut shard = Shard::new();
    for number in 0..entries {
        let range = RangeId::from(number);
        shard.insert(number, at(LINK, &range), 0, number);
    }
    shard
}

fn remove(shard: &mut Shard<u8, u32>, number: u32) -> Option<u32> {
    shard.remove(number, at(LINK, &RangeId::from(number)), 0)
}

#[test]
fn an_entry_of_the_circuits_takes_96_bytes() {
    assert_eq!(size_of::<super::Slot<Region, Health>>(), 96);
}

#[test]
fn partitions_are_spread_over_all_shards() {
    let table = Table::<(), ()>::new(100_000);
    let mut places = HashMap::new();
    for number in 0..64_000 {
        let range = RangeId::from(number);
        let mut entries = table.lock(at(LINK, &range));
        assert_eq!(entries.insert((), (), |()| false), Ok(None));
        *places.entry(entries.hash).or_insert(0) += 1;
    }
    let sizes: Vec<usize> = table
        .shards
        .iter()
        .map(|shard| shard.0.lock().len())
        .collect();
    assert_eq!(sizes.len(), SHARDS);
    assert!(sizes.iter().all(|size| (800..1200).contains(size)));
    // And within them.
    assert!(places.len() > 63_000, "{} hashes", places.len());
}

#[test]
fn a_hash_differs_at_both_ends() {
    assert_eq!(super::shard::spread(0x8123_4567), 0x8123_4567_8123_4567);
}

#[test]
fn a_shard_grows_by_an_eighth() {
    let mut shard = numbered(0);
    let mut rooms = Vec::new();
    for number in 0..5_000 {
        let range = RangeId::from(number);
        shard.insert(number, at(LINK, &range), 0, number);
        let len = shard.len();
        let room = shard.slots.capacity();
        assert!(room <= len + len / 8 + 4, "{room} for {len}");
        rooms.push(room);
    }
    // Not by less, either: each time everything is copied.
    rooms.dedup();
    assert!(rooms.len() < 70, "{} times", rooms.len());
}

#[test]
fn a_shard_that_empties_gives_its_memory_back() {
    let mut shard = numbered(5_000);
    for number in 0..5_000 {
        assert_eq!(remove(&mut shard, number), Some(number));
        let len = shard.len();
        assert_eq!(len, 4_999 - number as usize);
        assert!(shard.slots.capacity() <= 16.max(2 * len + 2), "{len}");
        assert!(shard.index.capacity() <= 32.max(4 * len + 4), "{len}");
    }
    assert_eq!(shard.slots.capacity(), 0);
    assert_eq!(shard.index.capacity(), 0);
    assert_eq!(shard.containers.capacity(), 0);
}

#[test]
fn a_shard_that_shrinks_a_little_keeps_its_room() {
    let mut shard = numbered(1_000);
    let room = shard.slots.capacity();
    for number in 0..1_000 {
        remove(&mut shard, number);
        if shard.len() < room / 2 {
            break;
        }
        assert_eq!(shard.slots.capacity(), room, "{} left", shard.len());
    }
    // Less than half is used: an eighth is kept to grow into.
    let len = shard.len();
    assert_eq!(shard.slots.capacity(), len + len / 8);
    let mut shard = numbered(16);
    let room = shard.slots.capacity();
    for number in 1..16 {
        remove(&mut shard, number);
    }
    assert_eq!(shard.slots.capacity(), room);
}

#[test]
fn a_container_goes_with_its_last_entry() {
    let mut shard = Shard::<u8, u32>::new();
    let links: Vec<String> = (0..100).map(|number| format!("dbs/{number}")).collect();
    let ranges = [RangeId::from(1), RangeId::from(2)];
    for (link, number) in links.iter().zip(0..) {
        for range in &ranges {
            shard.insert(number, at(link, range), 0, number);
        }
    }
    assert_eq!(shard.containers.len(), 100);
    for (left, (link, number)) in (0..100).rev().zip(links.iter().zip(0..)) {
        shard.remove(number, at(link, &ranges[0]), 0);
        assert_eq!(shard.containers.len(), left + 1);
        shard.remove(number, at(link, &ranges[1]), 0);
        assert_eq!(shard.containers.len(), left);
    }
}

#[test]
fn a_successor_of_a_forgotten_container_is_not_lost_with_its_entries() {
    let mut shard = numbered(2);
    shard.forget_container(LINK);
    assert_eq!((shard.len(), shard.iter().count()), (2, 0));
    assert!(shard.containers.is_empty());
    let range = RangeId::from(0);
    shard.insert(0, at(LINK, &range), 0, 7);
    // The old ones go, whatever their values.
    assert_eq!(shard.sweep(9, |_| false), Some(0));
    assert!(shard.sweep(9, |_| false).is_some());
    assert_eq!(shard.sweep(9, |_| false), None);
    assert_eq!(shard.containers.len(), 1);
    assert_eq!(shard.get_mut(0, at(LINK, &range), 0), Some(&mut 7));
}

#[test]
fn sweeping_looks_at_every_entry_in_turn() {
    let mut shard = numbered(10);
    let looked_at = Cell::new(Vec::new());
    let look = |value: &u32| {
        let mut values = looked_at.take();
        values.push(*value);
        looked_at.set(values);
        false
    };
    for _ in 0..10 {
        assert_eq!(shard.sweep(2, look), None);
    }
    let twice: Vec<u32> = (0..10).chain(0..10).collect();
    assert_eq!(looked_at.take(), twice);
    // Never more often than there are entries.
    assert_eq!(shard.sweep(1_000, look), None);
    assert_eq!(looked_at.take().len(), 10);
    assert_eq!(numbered(0).sweep(5, look), None);
}

#[test]
fn sweeping_removes_one_entry_and_goes_on_with_the_one_that_took_its_place() {
    let mut shard = numbered(5);
    assert_eq!(shard.sweep(2, |value| *value == 1), Some(1));
    // The last one has moved there.
    assert_eq!(shard.sweep(1, |value| *value == 4), Some(4));
    assert_eq!(shard.sweep(1, |value| *value == 3), Some(3));
    assert_eq!(shard.sweep(1, |value| *value == 2), Some(2));
    // Around the end.
    assert_eq!(shard.sweep(1, |value| *value == 0), Some(0));
    assert_eq!(shard.len(), 0);
}

#[test]
fn at_capacity_sixteen_entries_are_looked_at_for_one_that_may_go() {
    let table = Table::<u8, u32>::new(33);
    let range = RangeId::from(0);
    // All in one shard.
    let mut entries = table.lock(at(LINK, &range));
    for key in 0..33 {
        let inserted = entries.insert(key, key.into(), |_| false);
        assert_eq!(inserted, Ok(None));
    }
    assert_eq!(entries.insert(99, 99, |value| *value == 16), Err(NoRoom));
    assert_eq!(entries.insert(99, 99, |value| *value == 16), Ok(Some(16)));
    assert_eq!(entries.get(99), Some(&99));
    assert_eq!(entries.get(16), None);
    drop(entries);
    assert_eq!(table.len(), 33);
    assert!(format!("{table:?}").contains("len: 33, capacity: 33"));
}

#[test]
fn what_is_there_is_what_was_put_there() {
    let table = Table::<u8, u64>::new(10_000);
    let mut naive: HashMap<(u32, u8), u64> = HashMap::new();
    let mut random = fastrand::Rng::with_seed(11);
    let links = ["dbs/a", "dbs/b"];
    for step in 0..40_000 {
        let (number, key) = (random.u32(0..600), random.u8(0..3));
        let range = RangeId::from(number / 2);
        let mut entries = table.lock(at(links[number as usize % 2], &range));
        match naive.entry((number, key)) {
            std::collections::hash_map::Entry::Occupied(entry) => {
                assert_eq!(entries.get(key), Some(entry.get()));
                if random.bool() {
                    assert_eq!(entries.remove(key), Some(entry.remove()));
                    assert_eq!(entries.remove(key), None);
                }
            }
            std::collections::hash_map::Entry::Vacant(entry) => {
                assert_eq!(entries.get_mut(key), None);
                assert_eq!(entries.insert(key, step, |_| false), Ok(None));
                entry.insert(step);
            }
        }
        let found = entries.iter().count();
        drop(entries);
        let expected = (0..3).filter(|key| naive.contains_key(&(number, *key)));
        assert_eq!(found, expected.count());
        assert_eq!(table.len(), naive.len());
    }
    assert_eq!(table.collect(|slot| slot.value).len(), naive.len());
    for ((number, _), _) in naive {
        let range = RangeId::from(number / 2);
        let mut entries = table.lock(at(links[number as usize % 2], &range));
        while entries.remove_any().is_some() {}
        assert_eq!(entries.iter().count(), 0);
    }
    assert!(table.is_empty());
}

#[test]
fn clearing_gives_everything_back() {
    let table = Table::<(), u32>::new(1_000);
    for number in 0..1_000 {
        let range = RangeId::from(number);
        let mut entries = table.lock(at(LINK, &range));
        assert_eq!(entries.insert((), number, |_| false), Ok(None));
    }
    table.clear();
    assert!(table.is_empty());
    assert!(table.collect(|slot| slot.value).is_empty());
    let rooms = table
        .shards
        .iter()
        .map(|shard| shard.0.lock().slots.capacity());
    assert_eq!(rooms.sum::<usize>(), 0);
}
