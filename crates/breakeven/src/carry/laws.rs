//! What must hold of every kernel that is carried.

use super::{Kinship, Known, Pair, Spreads, StandIn, Work};
use crate::hardware::{Catalogue, Device};
use crate::units::{BytesPerSec, FlopPerSec};
use crate::workload::op::Rowwise;
use crate::workload::{Dtype, Op, Pass};
use proptest::prelude::*;
use proptest::sample::select;

const CLASSES: [StandIn; 12] = [
    StandIn::Product,
    StandIn::Convolution,
    StandIn::Attention,
    StandIn::Norm,
    StandIn::Softmax,
    StandIn::Map,
    StandIn::Fold,
    StandIn::Sort,
    StandIn::Lookup,
    StandIn::Windows,
    StandIn::Random,
    StandIn::Copy,
];

fn gpu() -> impl Strategy<Value = &'static Device> {
    let gpus: Vec<&Device> = Catalogue::embedded().gpus().iter().map(|gpu| &gpu.device).collect();
    select(gpus)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (1..5000_u64, 1..5000_u64, 1..5000_u64, 1..9_u64).prop_map(|(m, n, k, batch)| Op::Matmul {
            m,
            n,
            k,
            batch,
            bias: false
        }),
        (1..100_000_000_u64).prop_map(|n| Op::Elementwise {
            n,
            inputs: 2,
            flop_per_element: 1.0,
            transcendental: false
        }),
        (1..10_000_u64, 1..5000_u64).prop_map(|(rows, width)| Op::Rowwise {
            kind: Rowwise::Softmax,
            pass: Pass::Forward,
            rows,
            width
        }),
    ]
}

fn work() -> impl Strategy<Value = Work> {
    (op(), select(&[Dtype::F32, Dtype::F16, Dtype::Bf16][..])).prop_map(|(op, dtype)| Work {
        op,
        dtype,
        known: Known::Op,
    })
}

/// The same board with so many times the rates of memory and arithmetic.
fn faster(device: &Device, memory: f64, arithmetic: f64) -> Device {
    let mut faster = device.clone();
    faster.id = "faster".to_owned();
    faster.bandwidth = BytesPerSec(device.bandwidth.get() * memory);
    let p = &mut faster.peaks;
    for rate in [
        &mut p.f64_vector,
        &mut p.f64_tensor,
        &mut p.f32_vector,
        &mut p.f32_tensor,
        &mut p.tf32_tensor,
        &mut p.f16_vector,
        &mut p.f16_tensor,
        &mut p.bf16_tensor,
        &mut p.f8_tensor,
        &mut p.i8_tensor,
    ] {
        *rate = rate.map(|rate| FlopPerSec(rate.get() * arithmetic));
    }
    faster
}

proptest! {
    #[test]
    fn on_the_same_gpu_it_is_what_was_measured(device in gpu(), work in work(), measured in 1e-7..1.0_f64) {
        let pair = Pair::new(device, device);
        let carried = pair.carry(&work, measured);
        prop_assert_eq!(carried.seconds, measured);
        let all = pair.together([carried].into_iter());
        prop_assert_eq!([all.p10, all.p50, all.p90], [measured; 3]);
    }

    #[test]
    fn a_faster_gpu_is_never_slower(
        source in gpu(), device in gpu(), work in work(), measured in 1e-7..1.0_f64, more in 1.0..8.0_f64,
    ) {
        let better = faster(device, more, more);
        let on = |target: &Device| Pair::new(source, target).carry(&work, measured).seconds;
        // Kinship may change with the id, and with it the weight: both are seen from another source.
        prop_assume!(source.id != device.id);
        prop_assert!(on(&better) <= on(device) * (1.0 + 1e-9), "{} {}", on(&better), on(device));
        let own = Pair::new(device, &better).carry(&work, measured).seconds;
        prop_assert!(own <= measured);
    }

    #[test]
    fn more_bandwidth_is_never_slower(
        source in gpu(), device in gpu(), work in work(), measured in 1e-7..1.0_f64, more in 1.0..8.0_f64,
    ) {
        prop_assume!(source.id != device.id);
        let better = faster(device, more, 1.0);
        let on = |target: &Device| Pair::new(source, target).carry(&work, measured).seconds;
        prop_assert!(on(&better) <= on(device) * (1.0 + 1e-9), "{} {}", on(&better), on(device));
    }

    #[test]
    fn a_longer_kernel_is_never_shorter(
        source in gpu(), device in gpu(), work in work(), measured in 1e-7..1.0_f64, more in 1.0..8.0_f64,
    ) {
        let on = |measured| Pair::new(source, device).carry(&work, measured).seconds;
        prop_assert!(on(measured * more) >= on(measured) * (1.0 - 1e-9));
    }

    #[test]
    fn a_stand_in_takes_as_long_on_its_source(
        device in gpu(), class in select(&CLASSES[..]), measured in 1e-7..1.0_f64,
    ) {
        let pair = Pair::new(device, device);
        let op = class.op(Dtype::F32, measured, pair.source());
        let work = Work { op, dtype: Dtype::F32, known: Known::Class };
        prop_assert!(pair.modelled(&work)[0].p50.get() >= measured * 0.999);
        prop_assert_eq!(pair.carry(&work, measured).seconds, measured);
    }
}

#[test]
fn the_shipped_table_reads_and_others_are_refused() {
    let spreads = Spreads::shipped();
    for kinship in [Kinship::Same, Kinship::Other] {
        let [known, class, nothing] = [Known::Op, Known::Class, Known::Nothing]
            .map(|known| spreads.of(known, crate::workload::Family::Matmul, kinship))
            .map(|spread| spread.shared.hypot(spread.own));
        assert!(known < class && class < nothing, "what is known less is wider");
    }
    let row = "family,generation,weight,shared,own,basis\nmatmuls,same,1,0,0,fitted\n";
    assert!(Spreads::read(row).unwrap_err().message.contains("`matmuls` is not a family"));
    assert!(Spreads::read(&row.replace("matmuls,same,1", "rest,same,2")).unwrap_err().message.contains("0 to 1"));
    assert!(Spreads::read("family,generation,weight,shared,own,basis\n").unwrap_err().message.contains("`rest`"));
}
