//! A plane: its lines of events, and the names that events and stats mean by numbers.

use super::wire::{Fields, Value};
use std::collections::BTreeMap;

/// A plane whose names are known; its lines are read when they are asked for.
#[derive(Default)]
pub(super) struct Plane<'a> {
    pub(super) name: &'a [u8],
    pub(super) lines: Vec<&'a [u8]>,
    /// Metadata of events: name and stats.
    pub(super) events: BTreeMap<u64, Metadata<'a>>,
    /// Names of stats, and texts that stats refer to.
    pub(super) stats: BTreeMap<u64, &'a [u8]>,
    pub(super) own: Vec<&'a [u8]>,
    /// It ended in the middle.
    pub(super) broken: bool,
}

/// What events of one kind have in common.
#[derive(Clone, Default)]
pub(super) struct Metadata<'a> {
    pub(super) name: &'a [u8],
    pub(super) shown: &'a [u8],
    pub(super) stats: Vec<&'a [u8]>,
}

impl<'a> Plane<'a> {
    /// Reads a plane, of which the end may be missing.
    pub(super) fn of(message: &'a [u8], cut: bool) -> Self {
        let mut plane = Self::default();
        let mut fields = Fields::of(message);
        for (field, value) in fields.by_ref() {
            match field {
                2 => plane.name = value.bytes(),
                3 => plane.lines.push(value.bytes()),
                4 => {
                    let (key, message) = entry(value);
                    plane.events.insert(key, Metadata::of(message));
                }
                5 => {
                    let (key, message) = entry(value);
                    let name = Fields::of(message).find(|(field, _)| *field == 2);
                    plane.stats.insert(key, name.map_or(&[], |(_, name)| name.bytes()));
                }
                6 => plane.own.push(value.bytes()),
                _ => {}
            }
        }
        plane.broken = cut || fields.broken;
        plane
    }

    /// The name and the value of a stat; references as the text that they mean.
    pub(super) fn stat(&self, message: &'a [u8]) -> (&'a [u8], Value<'a>) {
        let (mut name, mut value): (&[u8], _) = (&[], Value::Number(0));
        for (field, found) in Fields::of(message) {
            match field {
                1 => name = self.stats.get(&found.number()).copied().unwrap_or_default(),
                7 => value = Value::Bytes(self.stats.get(&found.number()).copied().unwrap_or_default()),
                _ => value = found,
            }
        }
        (name, value)
    }
}

/// The key and the message of an entry of a map.
fn entry(value: Value<'_>) -> (u64, &[u8]) {
    let (mut key, mut message): (u64, &[u8]) = (0, &[]);
    for (field, value) in Fields::of(value.bytes()) {
        match field {
            1 => key = value.number(),
            2 => message = value.bytes(),
            _ => {}
        }
    }
    (key, message)
}

impl<'a> Metadata<'a> {
    fn of(message: &'a [u8]) -> Self {
        let mut metadata = Self::default();
        for (field, value) in Fields::of(message) {
            match field {
                2 => metadata.name = value.bytes(),
                4 => metadata.shown = value.bytes(),
                5 => metadata.stats.push(value.bytes()),
                _ => {}
            }
        }
        metadata
    }
}

/// A line: its name, when it begins, its events.
pub(super) struct Line<'a> {
    pub(super) id: u64,
    pub(super) name: &'a [u8],
    /// ns on the clock of the file.
    pub(super) from: i64,
    pub(super) fields: Fields<'a>,
}

impl<'a> Line<'a> {
    pub(super) fn of(message: &'a [u8]) -> Self {
        let mut line = Self { id: 0, name: &[], from: 0, fields: Fields::of(message) };
        for (field, value) in Fields::of(message) {
            match field {
                1 => line.id = value.number(),
                2 => line.name = value.bytes(),
                3 => line.from = value.signed(),
                11 if line.name.is_empty() => line.name = value.bytes(),
                _ => {}
            }
        }
        line
    }

    pub(super) fn events(&self) -> impl Iterator<Item = Event<'a>> + use<'a> {
        self.fields.filter(|(field, _)| *field == 4).map(|(_, value)| Event::of(value.bytes()))
    }
}

/// An event of a line.
pub(super) struct Event<'a> {
    pub(super) metadata: u64,
    /// From the line's beginning, ps.
    pub(super) offset_ps: i64,
    pub(super) duration_ps: i64,
    message: &'a [u8],
}

impl<'a> Event<'a> {
    fn of(message: &'a [u8]) -> Self {
        let mut event = Self { metadata: 0, offset_ps: 0, duration_ps: 0, message };
        for (field, value) in Fields::of(message) {
            match field {
                1 => event.metadata = value.number(),
                2 => event.offset_ps = value.signed(),
                3 => event.duration_ps = value.signed(),
                _ => {}
            }
        }
        event
    }

    pub(super) fn stats(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        Fields::of(self.message).filter(|(field, _)| *field == 4).map(|(_, value)| value.bytes())
    }
}
