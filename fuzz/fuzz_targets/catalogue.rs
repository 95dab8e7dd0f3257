//! No override of the catalogue and no name of a device or place panics; what is accepted can be estimated.
#![no_main]

use breakeven::hardware::Catalogue;
use breakeven::hardware::catalogue::HEADERS;
use breakeven::hardware::price::Wanted;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // As it is, and below the header of each table, which random bytes seldom hit.
    let below = HEADERS.iter().map(|header| format!("{}\n{text}", header.join(",")));
    for text in below.chain([text.to_owned()]) {
        if let Ok(catalogue) = Catalogue::embedded().with_override("fuzz.csv", &text) {
            sound(&catalogue);
        }
    }
    let embedded = Catalogue::embedded();
    if let Ok(found) = embedded.find_gpu(text) {
        assert!(!found.gpus.is_empty());
    }
    let _ = embedded.find_cpu(text);
    let _ = embedded.find_region(text);
});

/// Whatever was accepted has figures that can be computed with.
fn sound(catalogue: &Catalogue) {
    let possible = |x: f64| x.is_finite() && x > 0.0;
    for gpu in catalogue.gpus() {
        let device = &gpu.device;
        assert!(possible(device.memory.get()) && possible(device.bandwidth.get()));
        assert!(device.peaks.f32_vector.is_some_and(|rate| possible(rate.get())));
    }
    for cpu in catalogue.cpus() {
        assert!(possible(cpu.device.bandwidth.get()) && cpu.threads > 0);
        assert!(cpu.device.peaks.f64_vector.is_some_and(|rate| possible(rate.get())));
    }
    for price in catalogue.prices() {
        assert!(possible(price.per_device().get()));
        assert!(catalogue.offers(&price.device, &Wanted { spot: true, ..Wanted::default() }).count() > 0);
    }
    for instance in catalogue.instances() {
        assert!(possible(instance.gpus) && catalogue.gpu(&instance.gpu).is_some());
    }
    let world = catalogue.world();
    assert!(world.carbon_g_per_kwh.value.is_finite() && possible(world.electricity_usd_per_kwh.value));
}
