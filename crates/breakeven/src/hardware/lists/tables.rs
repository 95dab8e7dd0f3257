//! Lists in CSV: SkyPilot's, gpuhunt's, and the catalogue's own.

use super::super::price::{self, HEADER, SHORT_HEADER};
use super::super::table::{Errors, gather_rows};
use super::{Offer, Offers};

/// Calls `each` with the fields of every line, by the names of the columns in small letters.
fn lines<'t>(text: &'t str, offers: &mut Offers, names: &[&str], mut each: impl FnMut(&[&str], &mut Offers)) {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).flexible(true).from_reader(text.as_bytes());
    let place =
        |columns: &csv::StringRecord, name: &str| columns.iter().position(|c| c.trim().eq_ignore_ascii_case(name));
    let Ok(columns) = reader.headers() else { return };
    let places: Vec<Option<usize>> = names.iter().map(|name| place(columns, name)).collect();
    let mut record = csv::StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {
                let field = |place: &Option<usize>| place.and_then(|n| record.get(n)).unwrap_or_default().trim();
                each(&places.iter().map(field).collect::<Vec<&str>>(), offers);
            }
            Ok(false) => break,
            Err(_) => offers.left_out += 1,
        }
    }
}

/// `InstanceType,AcceleratorName,AcceleratorCount,…,Region,…,Price,SpotPrice`; a file a provider, named for it.
pub(super) fn skypilot(text: &str, offers: &mut Offers) {
    let names = ["instancetype", "acceleratorname", "acceleratorcount", "region", "price", "spotprice"];
    lines(text, offers, &names, |fields, offers| {
        let [instance, gpu, count, region, listed, spot] = fields[..] else { return };
        let offer = Offer { instance, gpu, count: count.parse().ok(), region, ..Offer::default() };
        let prices = [(listed, false), (spot, true)].map(|(text, spot)| (text.parse::<f64>().ok(), spot));
        if gpu.is_empty() || prices.iter().all(|(price, _)| price.is_none()) {
            offers.left_out += 1;
            return;
        }
        for (price, spot) in prices {
            if let Some(usd_per_h) = price {
                offers.add(&Offer { usd_per_h, spot, ..offer });
            }
        }
    });
}

/// `instance_name,location,price,…,gpu_count,gpu_name,gpu_memory,spot,…`, with `provider` where there are several.
pub(super) fn gpuhunt(text: &str, offers: &mut Offers) {
    let names = ["provider", "instance_name", "location", "price", "gpu_count", "gpu_name", "gpu_memory", "spot"];
    lines(text, offers, &names, |fields, offers| {
        let [provider, instance, region, price, count, name, memory, spot] = fields[..] else { return };
        let gib = memory.parse::<f64>().ok().filter(|gib| *gib >= 1.0);
        let sized = gib.map(|gib| format!("{name} {gib:.0}GB"));
        // The memory tells boards of one name apart; for a name that is one board's alone it may be rounded otherwise.
        let gpu = sized.filter(|name| offers.gpu(name).is_some()).unwrap_or_else(|| name.to_owned());
        let (count, usd_per_h) = (count.parse().ok(), price.parse().unwrap_or(f64::NAN));
        let spot = spot.eq_ignore_ascii_case("true") || spot == "1";
        if name.is_empty() {
            offers.left_out += 1;
            return;
        }
        offers.add(&Offer { provider, instance, gpu: &gpu, count, spot, usd_per_h, region, date: None });
    });
}

/// The columns of `prices.csv`, each offer with its own day and source.
pub(super) fn own(text: &str, offers: &mut Offers) {
    let (mut errors, mut lines) = (Errors::default(), 0);
    let read = gather_rows("list", text, &[&HEADER, &SHORT_HEADER], &mut errors, |_, row, errors| {
        lines += 1;
        if let Some(price) = price::price(&row, errors) {
            let there = offers.catalogue.gpu(&price.device).is_some();
            let sound = |text: &str| text.len() <= 200 && !text.starts_with('#') && !text.chars().any(char::is_control);
            if there && [&price.provider, &price.instance, &price.source, &price.note].iter().all(|text| sound(text)) {
                lines -= 1;
                offers.keep(price);
            }
        }
    });
    offers.left_out += lines + usize::from(read.is_err());
}
