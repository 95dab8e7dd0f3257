//! Calls that are many kernels, on devices of the catalogue.

use breakeven::hardware::Catalogue;
use breakeven::kernel::{Bound, KernelTime, kernel_time};
use breakeven::units::Bytes;
use breakeven::workload::{Dtype, Op, Part};

#[test]
fn a_routine_of_one_kernel_takes_as_long_as_the_kernel() {
    let product = Op::Matmul { m: 512, n: 512, k: 512, batch: 1, bias: false };
    let catalogue = Catalogue::embedded();
    for device in [&catalogue.gpu("l4").unwrap().device, &catalogue.cpus()[0].device] {
        let time = |op: &Op| kernel_time(op, Dtype::F32, Bytes::ZERO, Bytes::ZERO, device);
        let routine = |count| Op::Routine { parts: vec![Part::new(product.clone(), Dtype::F32, count)] };
        let (alone, once, often) = (time(&product), time(&routine(1)), time(&routine(600)));
        assert_eq!(KernelTime { sigma_own: alone.sigma_own, ..once }, alone);
        assert!((once.sigma_own / alone.sigma_own - 1.0).abs() < 1e-12);
        assert!((often.p50.get() / alone.p50.get() / 600.0 - 1.0).abs() < 1e-12);
        assert_eq!((often.launches, often.bound), (600 * alone.launches, alone.bound));
    }
}

#[test]
fn what_bounds_most_of_it_bounds_the_whole() {
    let device = &Catalogue::embedded().gpu("l4").unwrap().device;
    let stream = Op::Elementwise { n: 1 << 26, inputs: 2, flop_per_element: 1.0, transcendental: false };
    let product = Op::Matmul { m: 4096, n: 4096, k: 4096, batch: 1, bias: false };
    let bound = |count| {
        let parts = vec![Part::new(stream.clone(), Dtype::F32, count), Part::new(product.clone(), Dtype::F32, 1)];
        kernel_time(&Op::Routine { parts }, Dtype::F32, Bytes::ZERO, Bytes::ZERO, device).bound
    };
    assert_eq!((bound(1), bound(100)), (Bound::Compute, Bound::Memory));
}
