//! GPUs of one maker whose kernel driver shows them as files: their boards, looked at one after the other.

use super::processes::Clients;
use super::sysfs::Card;
use super::{Gpu, Note, Process, Reading, Source};
use std::path::Path;

/// The files of one board.
pub(super) trait Board: Send + Sized {
    /// Whose it is, as messages name it.
    const MAKER: &'static str;
    /// The maker's number on the bus.
    const NUMBER: &'static str;

    /// What is known of it before anything is read.
    fn about(card: &Card) -> Gpu;

    /// Opens its files.
    fn open(card: &Card) -> Self;

    /// One look at it.
    fn read(&mut self, reading: &mut Reading);

    /// Whether it has gone.
    fn lost(&self) -> bool;
}

/// The GPUs of one maker in this machine.
pub(super) struct Driver<B> {
    gpus: Vec<Gpu>,
    boards: Vec<B>,
    clients: Clients,
    notes: Vec<Note>,
}

impl<B: Board> Driver<B> {
    /// Those below `root`; `None` where there is none.
    pub(super) fn find(root: &Path, cards: &[Card]) -> Option<Self> {
        let ours: Vec<&Card> = cards.iter().filter(|card| card.vendor == B::NUMBER).collect();
        let gpus: Vec<Gpu> = ours.iter().map(|card| B::about(card)).collect();
        let clients = Clients::new(root, ours.iter().map(|card| card.address.clone()).collect());
        let boards = ours.iter().map(|card| B::open(card)).collect();
        (!gpus.is_empty()).then_some(Self { gpus, boards, clients, notes: Vec::new() })
    }
}

impl<B: Board> Source for Driver<B> {
    fn gpus(&self) -> &[Gpu] {
        &self.gpus
    }

    fn read(&mut self, readings: &mut [Reading]) {
        for (n, (board, reading)) in self.boards.iter_mut().zip(readings).enumerate() {
            let before = board.lost();
            board.read(reading);
            if board.lost() && !before {
                let text = format!("{} GPU {n} ({}) is gone: nothing more is read of it", B::MAKER, self.gpus[n].id);
                self.notes.push(Note::new("gpu-lost", text).hint("`dmesg` says why"));
            }
        }
    }

    fn processes(&mut self) -> Vec<Process> {
        self.clients.look()
    }

    fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}
