//! Samples on their way from the sampling thread to the recorder, in memory that was made beforehand: the thread asks for
//! none, so that the script's memory stays as it would be.

use super::facts::Facts;
use super::frame::Step;
use super::object::Object;
use crate::bytecode::Stack;

/// Frames of one sample.
pub(super) const DEEPEST: usize = 64;
/// Slots of a value stack that are described where it is not known which of them matters.
pub(super) const SLOTS: usize = 40;
/// Objects of one sample: these, and what lies within some.
const OBJECTS: usize = 52;
/// How deep is looked into what is made of others: `enumerate(map(partial(f, a), x))`.
const LEVELS: u32 = 4;
/// Objects that are described on the way: twelve tuples of twelve each, and so on, would take longer than a look may.
const LOOKS: u32 = 48;
/// Different samples that wait for the recorder.
const MOST: usize = 160;

/// What the processors did while a sample lasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Busy {
    /// The thread ran.
    Running,
    /// It did not, but other threads of the process did.
    Others,
    /// No thread did.
    Idle,
}

/// What a thread was at.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    /// Its frames, innermost first, and how many there are.
    pub(super) path: [Step; DEEPEST],
    pub(super) steps: usize,
    /// What its value stack holds, and how much of it.
    pub(super) objects: [Object; OBJECTS],
    pub(super) slots: usize,
    /// Those of them that lie on the stack; what was found within these comes after.
    on_stack: usize,
    /// Objects that were described to find these.
    looks: u32,
    /// What the objects are, where that is known: the callee, or operands; `None` for all that lies in the frame, variables
    /// first (in 3.10 without these).
    pub(super) stack: Option<Stack>,
    /// All code in `path` is known.
    pub(super) known: bool,
    /// The last frame is one of the script's.
    script: bool,
    pub(super) busy: Busy,
}

impl Sample {
    pub(super) const fn new() -> Self {
        Self {
            path: [Step { code: 0, offset: 0 }; DEEPEST],
            steps: 0,
            objects: [Object::new(); OBJECTS],
            slots: 0,
            on_stack: 0,
            looks: 0,
            stack: None,
            known: true,
            script: false,
            busy: Busy::Running,
        }
    }

    pub(super) fn path(&self) -> &[Step] {
        &self.path[..self.steps]
    }

    pub(super) fn objects(&self) -> &[Object] {
        &self.objects[..self.slots]
    }

    /// Adds a frame; false where there is no room.
    pub(super) fn push(&mut self, step: Step, facts: Option<&Facts>) -> bool {
        let free = self.steps < DEEPEST;
        if free {
            self.path[self.steps] = step;
            self.steps += 1;
            self.known &= facts.is_some();
            self.script = facts.is_some_and(|facts| facts.script);
        }
        free
    }

    /// Whether the last frame is one of the script's.
    pub(super) fn is_of_script(&self) -> bool {
        self.steps > 0 && self.script
    }

    /// What lies on the stack, of what was described.
    pub(super) fn stacked(&self) -> &[Object] {
        &self.objects[..self.on_stack]
    }

    /// What may run within the one at this place on the stack, or is given to it.
    pub(super) fn within(&self, index: usize) -> impl Iterator<Item = &Object> {
        self.objects[self.on_stack..self.slots].iter().filter(move |object| usize::from(object.within) == index + 1)
    }

    /// Nothing is on the stack.
    pub(super) fn empty(&mut self) {
        (self.steps, self.slots, self.on_stack, self.looks, self.known) = (0, 0, 0, 0, true);
    }

    /// Adds what lies at `address`.
    pub(super) fn add(&mut self, address: usize) {
        if self.slots < SLOTS {
            self.objects[self.slots] = Object::at(address);
            self.slots += 1;
            self.on_stack = self.slots;
        }
    }

    /// Adds an argument of the callee, which lies on the stack first: whoever is called may run it.
    pub(super) fn add_given(&mut self, address: usize) {
        self.find(address, 1, LEVELS);
    }

    /// Adds what may run within what lies on the stack: the function of a `map`.
    pub(super) fn look_within(&mut self) {
        for index in 0..self.on_stack {
            let object = self.objects[index];
            self.look_into(&object, index as u8 + 1, LEVELS);
        }
    }

    fn look_into(&mut self, object: &Object, within: u8, levels: u32) {
        if levels > 0 && object.holds_others() {
            object.parts().for_each(|part| self.find(part, within, levels - 1));
        }
    }

    /// Adds an object that may run compiled code, or what it is made of.
    fn find(&mut self, address: usize, within: u8, levels: u32) {
        if self.looks == LOOKS {
            return;
        }
        self.looks += 1;
        let object = Object::at(address);
        if object.may_run() && self.slots < OBJECTS {
            self.objects[self.slots] = Object { within, ..object };
            self.slots += 1;
        }
        self.look_into(&object, within, levels);
    }

    /// Whether it is of the same place and the same objects.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.stack.is_some() == other.stack.is_some()
            && self.path() == other.path()
            && self.slots == other.slots
            && self.objects().iter().zip(other.objects()).all(|(a, b)| a.address == b.address && a.call == b.call)
    }
}

/// Samples with the time that they stand for, ns, and how often they were taken.
pub(super) struct Waiting {
    samples: Vec<(Sample, u64, u64)>,
    /// Time for which there was no room, ns.
    pub(super) lost_ns: u64,
}

impl Waiting {
    pub(super) fn new() -> Self {
        let mut samples = Vec::new();
        // Without memory for them nothing is sampled; the script may have set itself a limit.
        let _ = samples.try_reserve_exact(MOST);
        Self { samples, lost_ns: 0 }
    }

    /// Adds `ns` of a sample; whether the recorder should come soon, as it should for what it `can_learn`.
    pub(super) fn add(&mut self, sample: &Sample, ns: u64, can_learn: bool) -> bool {
        // The last one is the likeliest.
        if let Some((_, all, times)) =
            self.samples.iter_mut().rev().find(|(known, ..)| known.busy == sample.busy && known.is(sample))
        {
            *all += ns;
            *times += u64::from(ns > 0);
        } else if self.samples.len() < self.samples.capacity().min(MOST) {
            self.samples.push((*sample, ns, u64::from(ns > 0)));
        } else {
            self.lost_ns += ns;
        }
        self.samples.len() > MOST / 2 || can_learn && !sample.known
    }

    /// Hands each to `take` and forgets it.
    pub(super) fn drain(&mut self, mut take: impl FnMut(&Sample, u64, u64)) {
        self.samples.iter().for_each(|(sample, ns, times)| take(sample, *ns, *times));
        self.samples.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_add_up_and_no_time_is_lost_unnoticed() {
        let mut waiting = Waiting::new();
        let mut sample = Sample::new();
        let facts = Facts { script: false, begins: 0, variables: 0, stacks: Vec::new(), lines: Vec::new() };
        for round in 0..3 * MOST as u64 {
            sample.steps = 0;
            let step = Step { code: (round % (MOST as u64 + 5)) as usize, offset: 2 };
            assert!(sample.push(step, Some(&facts)));
            let soon = waiting.add(&sample, 10, true);
            assert_eq!(soon, round >= MOST as u64 / 2);
        }
        let mut sum = 0;
        waiting.drain(|_, ns, times| {
            assert_eq!(ns, times * 10);
            sum += ns;
        });
        assert_eq!(sum + waiting.lost_ns, 30 * MOST as u64);
        waiting.drain(|_, _, _| panic!("they were forgotten"));
    }
}
