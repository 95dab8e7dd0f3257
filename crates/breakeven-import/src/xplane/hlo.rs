//! Source lines of XLA's operations, from the modules that the plane `/host:metadata` holds.

use super::plane::Plane;
use super::wire::{Fields, Value};
use std::collections::HashMap;

/// The operation's path in the program and its source line, by program and operation.
#[derive(Default)]
pub(super) struct Sources {
    all: HashMap<(u64, Box<[u8]>), Source>,
}

/// Where an operation comes from, as far as it is known.
#[derive(Clone, Default)]
pub(super) struct Source {
    pub(super) op: Option<Box<[u8]>>,
    pub(super) line: Option<Box<[u8]>>,
}

/// So many operations are kept.
const MOST: usize = 1 << 20;

impl Sources {
    /// Takes what the plane of metadata holds: modules named `jit_step(17)`, 17 their program.
    pub(super) fn add(&mut self, plane: &Plane<'_>) {
        for (id, metadata) in &plane.events {
            let name = metadata.name.strip_suffix(b")").unwrap_or_default();
            let number =
                name.rsplit(|byte| *byte == b'(').next().and_then(|n| std::str::from_utf8(n).ok()?.parse().ok());
            for stat in &metadata.stats {
                if let (_, Value::Bytes(proto)) = plane.stat(stat) {
                    self.module(number.unwrap_or(*id), proto);
                }
            }
        }
    }

    fn module(&mut self, program: u64, proto: &[u8]) {
        let Some((_, module)) = Fields::of(proto).find(|(field, _)| *field == 1) else { return };
        let module = module.bytes();
        let frames = Frames::of(module);
        let computations = Fields::of(module).filter(|(field, _)| *field == 3);
        let instructions = computations.flat_map(|(_, c)| Fields::of(c.bytes()).filter(|(field, _)| *field == 2));
        for (_, instruction) in instructions {
            let (mut name, mut source): (&[u8], _) = (&[], Source::default());
            for (field, value) in Fields::of(instruction.bytes()) {
                match field {
                    1 => name = value.bytes(),
                    7 => source = frames.source(value.bytes()),
                    _ => {}
                }
            }
            if (source.op.is_some() || source.line.is_some()) && self.all.len() < MOST {
                self.all.insert((program, name.into()), source);
            }
        }
    }

    /// Where an operation of a program comes from.
    pub(super) fn find(&self, program: u64, op: &[u8]) -> Option<&Source> {
        self.all.get(&(program, Box::from(op)))
    }
}

/// The tables of a module by which operations name their source: files, places in them, frames.
#[derive(Default)]
struct Frames<'a> {
    files: Vec<&'a [u8]>,
    /// File and line, both counted from 1.
    places: Vec<(usize, u64)>,
    /// The place of each frame.
    frames: Vec<usize>,
}

impl<'a> Frames<'a> {
    fn of(module: &'a [u8]) -> Self {
        let mut frames = Self::default();
        let Some((_, index)) = Fields::of(module).find(|(field, _)| *field == FRAMES) else { return frames };
        for (field, value) in Fields::of(index.bytes()) {
            match field {
                1 => frames.files.push(value.bytes()),
                3 => {
                    let (mut file, mut line) = (0, 0);
                    for (field, value) in Fields::of(value.bytes()) {
                        match field {
                            1 => file = place(value),
                            3 => line = value.number(),
                            _ => {}
                        }
                    }
                    frames.places.push((file, line));
                }
                4 => {
                    let location = Fields::of(value.bytes()).find(|(field, _)| *field == 1);
                    frames.frames.push(location.map_or(0, |(_, value)| place(value)));
                }
                _ => {}
            }
        }
        frames
    }

    /// What an operation's metadata says.
    fn source(&self, metadata: &[u8]) -> Source {
        let (mut op, mut file, mut line): (&[u8], &[u8], _) = (&[], &[], 0);
        for (field, value) in Fields::of(metadata) {
            match field {
                2 => op = value.bytes(),
                3 => file = value.bytes(),
                4 => line = value.number(),
                15 => {
                    let frame = place(value).checked_sub(1).and_then(|at| self.frames.get(at));
                    let found = frame.and_then(|at| self.places.get(at.checked_sub(1)?));
                    if let Some((at, number)) = found.filter(|_| file.is_empty()) {
                        file = at.checked_sub(1).and_then(|at| self.files.get(at)).copied().unwrap_or_default();
                        line = *number;
                    }
                }
                _ => {}
            }
        }
        let line = (!file.is_empty()).then(|| [file, format!(":{line}").as_bytes()].concat().into());
        Source { op: (!op.is_empty()).then(|| op.into()), line }
    }
}

/// The field of a module that holds them.
const FRAMES: u64 = 17;

fn place(value: Value<'_>) -> usize {
    usize::try_from(value.number()).unwrap_or(usize::MAX)
}
