//! Capacity plans: which GPUs, bought or rented, how many and until when, for runs a month and their deadlines.
//!
//! Pure: [`read`] takes the text of a plan file, [`questions`] says what the engine is to be asked, [`draw_up`]
//! makes an
//! [`Answer`] of its estimates, and [`report`] shows it. Files and threads are the face's.

mod answer;
mod assumed;
mod bill;
mod condition;
mod curves;
mod describe;
mod draw;
mod mix;
mod plan;
mod pool;
mod problem;
mod question;
mod queue;
pub mod report;
mod sensitivity;
mod single;
mod size;
mod table;
mod text;
mod unmet;
mod way;

pub use answer::{Answer, OptionRow, SCHEMA};
pub use assumed::Assumption;
pub use bill::Bill;
pub use condition::Condition;
pub use draw::draw_up;
pub use mix::{Mix, Part};
pub use plan::{Plan, Source, Work};
pub use pool::{Pool, Pools};
pub use problem::{At, Problem, Service, Why};
pub use question::{Answered, Question, library, questions};
pub use queue::{Wait, interrupted, wait};
pub use single::{Mode, Single};
pub use table::{Cell, CpuOffer, Device, Lack, Table};
pub use text::{
    BuyText, CloudText, ClusterText, DataText, GrowthText, Lists, PlanText, RentText, ReservedText, SiteText, SpotText,
    StaffText, WorkText, read,
};
pub use way::Way;
