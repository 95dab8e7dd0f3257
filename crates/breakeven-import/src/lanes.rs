//! Where things ran: a stream of a GPU, filled by a process; each kept once.

use std::collections::BTreeMap;

/// A stream of a GPU, as one process uses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    /// The number of the GPU.
    pub gpu: i64,
    /// The number of the stream, where the file says.
    pub stream: Option<i64>,
    /// The process, by number of appearance.
    pub process: u16,
}

/// Lanes, each kept once; beyond a million they are one.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    places: BTreeMap<Lane, u32>,
    all: Vec<Lane>,
    last: u32,
}

/// Files that give each event a lane of its own would fill the memory.
const MOST: usize = 1 << 20;

impl Lanes {
    /// The place of a lane.
    pub(crate) fn of(&mut self, lane: Lane) -> u32 {
        if self.all.get(self.last as usize) == Some(&lane) {
            return self.last;
        }
        self.last = match self.places.get(&lane) {
            Some(known) => *known,
            None if self.all.len() >= MOST => 0,
            None => {
                let place = u32::try_from(self.all.len()).unwrap_or(0);
                self.places.insert(lane, place);
                self.all.push(lane);
                place
            }
        };
        self.last
    }

    /// All of them, by place.
    pub fn all(&self) -> &[Lane] {
        &self.all
    }

    /// The lane at a place.
    pub(crate) fn at(&self, place: u32) -> Lane {
        self.all.get(place as usize).copied().unwrap_or_default()
    }
}
