//! Start-up drawn apart from what the host does afterwards, as the breakdown tells it.

use super::{Actor, Round, Segment, Sink};

/// Hands on what happens after the program's own start-up, which the host's first stretch begins with.
#[derive(Debug)]
pub struct AfterStartup<'a, S> {
    /// Who draws.
    pub sink: &'a mut S,
    /// The program's own start-up, s: imports and the like. It is not handed on.
    pub own: f64,
    /// By how much all else is later than the simulation has it, s.
    pub later: f64,
}

impl<S: Sink> Sink for AfterStartup<'_, S> {
    fn segment(&mut self, segment: Segment) {
        let host = segment.actor == Actor::Host;
        let cut = if host { (self.own - segment.start).clamp(0.0, segment.duration) } else { 0.0 };
        if cut > 0.0 && cut >= segment.duration {
            return;
        }
        let start = segment.start + cut + self.later;
        self.sink.segment(Segment { start, duration: segment.duration - cut, ..segment });
    }

    fn round(&mut self) {
        self.sink.round();
    }

    fn round_over(&mut self, mut round: Round) {
        for lap in [&mut round.host, &mut round.device, &mut round.upload, &mut round.download] {
            lap.end += self.later;
        }
        self.sink.round_over(round);
    }
}
