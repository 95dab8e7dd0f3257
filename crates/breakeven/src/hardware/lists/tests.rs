//! Lists of every known form, and thousands that are broken.

use super::*;
use proptest::prelude::*;

const SKYPILOT: &str = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Region,AvailabilityZone,Price,SpotPrice\n\
    p5.48xlarge,H100,8.0,192,2048,\"{'Gpus': [{'Name': 'H100'}]}\",us-east-1,us-east-1a,55.04,20.5\n\
    p5.48xlarge,H100,8.0,192,2048,,us-east-1,us-east-1b,55.04,21.5\n\
    gpu_1x_l4,L4,1,8,32,,eu,,0.8,\n\
    m5.large,,,2,8,,us-east-1,,0.096,\n\
    a100-box,A100,1,12,85,,us,,2.5,\n";
const GPUHUNT: &str = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size\n\
    A40-1,US-TX,0.39,8,48,1,A40,48,False,\n\
    H100NVL-2,EU-RO,5.18,32,188,2,H100NVL,94,True,\n\
    cpu-2,EU,0.05,2,4,0,,,False,\n";
const INFRACOST: &str = r#"{"version":"0.2","currency":"USD","projects":[{"name":"x","breakdown":{"resources":[
    {"name":"aws_instance.gpu","costComponents":[
      {"name":"Instance usage (Linux/UNIX, on-demand, p3.2xlarge)","unit":"hours","price":"3.06"},
      {"name":"Storage (general purpose SSD, gp3)","unit":"GB","price":"0.08"}],
     "subresources":[{"name":"ebs","costComponents":[]}]},
    {"name":"spot","costComponents":[{"name":"Instance usage (Linux/UNIX, spot, g5.xlarge)","unit":"hours","price":0.4}]}]}}]}"#;
const GO: &str = "//go:build !ignore\npackage pricing\n\n// generated at 2026-07-20T13:13:18Z for us-east-1\n\n\
    var InitialOnDemandPricesAWS = map[ec2types.Region]map[ec2types.InstanceType]float64{\n\t// us-east-1\n\
    \t\"us-east-1\": {\n\t\t// g5 family\n\t\t\"g5.xlarge\": 1.006000, \"g5.2xlarge\": 1.212000,\n\t\t\"m5.large\": 0.096000,\n\t},\n}\n";
const AZURE: &str = "package pricing\nimport \"time\"\n// generated at 2026-06-18T03:43:00Z\nfunc init() {\n\
    \tinitialOnDemandPrices[\"eastus\"] = map[string]float64{\n\t\t\"Standard_NC4as_T4_v3\": 0.526000,\n\t}\n}\n";
const JSON: &str =
    r#"{"us-central1":{"onDemand":{"a2-highgpu-1g":3.67,"n2-standard-2":0.1},"spot":{"a2-highgpu-1g":1.93}}}"#;
const OWN: &str = "provider,instance,device,count,kind,usd_per_hour,region,date,date_precision,complete,source,note\n\
    Us,rack 3,l4,2,on_demand,1.5,,2026-11-22,day,yes,our books,\nUs,rack 4,no-such,2,on_demand,1.5,,2026-11-22,day,yes,us,\n";

fn day(text: &str) -> Date {
    Date::parse(text).unwrap()
}

fn about(name: &str) -> About<'_> {
    About { name, provider: None, source: "a list", day: day("2026-11-29") }
}

fn list(name: &str, text: &str) -> List {
    read(text, &about(name), Catalogue::embedded()).unwrap()
}

/// Provider, machine, GPU, terms, region, price and day of each.
fn told(list: &List) -> Vec<String> {
    let row = |p: &Price| {
        let region = p.region.as_deref().unwrap_or("-");
        format!(
            "{} {} {}×{} {:?} {region} {} {}",
            p.provider,
            p.instance,
            p.count,
            p.device,
            p.terms,
            p.machine.get(),
            p.date
        )
    };
    list.prices.iter().map(row).collect()
}

#[test]
fn skypilot_and_gpuhunt_are_read() {
    let read = list("catalogs/v8/aws/vms.csv", SKYPILOT);
    assert_eq!((read.format, read.left_out), ("SkyPilot", 2));
    let rows = [
        "AWS gpu_1x_l4 1×l4 OnDemand eu 0.8 2026-11-29",
        "AWS p5.48xlarge 8×h100-sxm5-80gb OnDemand us-east-1 55.04 2026-11-29",
        "AWS p5.48xlarge 8×h100-sxm5-80gb Spot us-east-1 20.5 2026-11-29",
    ];
    assert_eq!(told(&read), rows);
    let read = list("runpod.csv", GPUHUNT);
    assert_eq!((read.format, read.left_out), ("gpuhunt", 1));
    let rows = [
        "RunPod A40-1 1×a40 OnDemand US-TX 0.39 2026-11-29",
        "RunPod H100NVL-2 2×h100-nvl-94gb Spot EU-RO 5.18 2026-11-29",
    ];
    assert_eq!(told(&read), rows);
    // Without a name that says whose it is, the offers are nobody's, unless the user says.
    assert_eq!(list("list.csv", GPUHUNT).prices, []);
    let mine = About { provider: Some("vast"), ..about("list.csv") };
    assert!(read_as(GPUHUNT, &mine).iter().all(|p| p.provider == "Vast.ai"));
}

fn read_as(text: &str, about: &About) -> Vec<Price> {
    read(text, about, Catalogue::embedded()).unwrap().prices
}

#[test]
fn json_and_go_are_read() {
    let read = list("plan.json", INFRACOST);
    assert_eq!((read.format, read.left_out), ("Infracost", 1));
    let rows =
        ["AWS g5.xlarge 1×a10g Spot - 0.4 2026-11-29", "AWS p3.2xlarge 1×v100-sxm2-16gb OnDemand - 3.06 2026-11-29"];
    assert_eq!(told(&read), rows);
    let read = list("zz_generated.pricing_aws.go", GO);
    let rows = [
        "AWS g5.2xlarge 1×a10g OnDemand us-east-1 1.212 2026-07-20",
        "AWS g5.xlarge 1×a10g OnDemand us-east-1 1.006 2026-07-20",
    ];
    assert_eq!((told(&read), read.left_out, read.format), (rows.map(str::to_owned).to_vec(), 1, "Karpenter"));
    let read = list("karpenter-provider-azure/pricing.go", AZURE);
    assert_eq!(told(&read), ["Azure Standard_NC4as_T4_v3 1×t4 OnDemand eastus 0.526 2026-06-18"]);
    let read = list("initial-prices.json", JSON);
    let rows = [
        "GCP a2-highgpu-1g 1×a100-sxm4-40gb OnDemand us-central1 3.67 2026-11-29",
        "GCP a2-highgpu-1g 1×a100-sxm4-40gb Spot us-central1 1.93 2026-11-29",
    ];
    assert_eq!(told(&read), rows);
    let read = list("mine.csv", OWN);
    assert_eq!((told(&read), read.left_out), (vec!["Us rack 3 2×l4 OnDemand - 1.5 2026-11-22".to_owned()], 1));
    assert_eq!(read.prices[0].source, "our books");
    for text in ["", "a,b\n1,2\n", "<html>403</html>", "[1,2]"] {
        assert!(super::read(text, &about("x"), Catalogue::embedded()).is_err(), "{text}");
    }
    let other = INFRACOST.replace("USD", "EUR");
    assert!(super::read(&other, &about("x"), Catalogue::embedded()).unwrap_err().message.contains("US dollars"));
}

#[test]
fn what_cannot_be_a_price_is_left_out() {
    for bad in ["0", "-1", "NaN", "inf", "1e308", "free", ""] {
        let text = GPUHUNT.replace("0.39", bad);
        assert_eq!(told(&list("runpod.csv", &text)).len(), 1, "{bad}");
    }
    for bad in ["\u{1b}[31mA40", "#A40", &"x".repeat(200)] {
        assert_eq!(told(&list("runpod.csv", &GPUHUNT.replace("A40-1", bad))).len(), 1, "{bad}");
    }
}

#[test]
fn a_list_goes_on_top_of_what_is_there() {
    let now = Catalogue::embedded().prices();
    let first = list("aws.csv", &SKYPILOT.replace("55.04", "60"));
    let (own, changes) = merge(&[], first.prices.clone(), now);
    assert_eq!((own.len(), changes.changed.len(), changes.older), (3, 1, 0));
    assert!((changes.median().unwrap() - 60.0 / 55.04).abs() < 1e-9);
    let (again, changes) = merge(&own, first.prices.clone(), &own);
    assert_eq!((again, changes.same, changes.new.len()), (own.clone(), 3, 0));
    let older: Vec<Price> = first.prices.into_iter().map(|p| Price { date: day("2020-01-01"), ..p }).collect();
    let (kept, changes) = merge(&own, older, &own);
    assert_eq!((kept, changes.older), (own.clone(), 3));
    // What is written is what is read.
    assert_eq!(read_as(&written(&own), &about("x")).len(), 3);
    assert!(Catalogue::embedded().with_override("own", &written(&own)).is_ok());
}

#[test]
fn older_offers_do_not_count() {
    let base = Catalogue::embedded().prices();
    let own = list("aws.csv", SKYPILOT).prices;
    assert_eq!(on_top(&own, base, None).len(), 3);
    assert_eq!(on_top(&own, base, Some("EU")).len(), 1);
    let older: Vec<Price> = own.iter().cloned().map(|p| Price { date: day("2020-01-01"), ..p }).collect();
    // What nothing newer is known of counts all the same.
    assert!(on_top(&older, base, None).iter().all(|p| p.instance != "p5.48xlarge" || p.terms == Terms::Spot));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Whatever a list holds, nothing panics, and what is kept of it reads back.
    #[test]
    fn mutated_lists_leave_the_overlay_whole(
        which in 0usize..7,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..12),
    ) {
        let name = ["aws.csv", "runpod.csv", "x.json", "aws.go", "azure.go", "gcp.json", "own.csv"][which];
        let mut bytes = [SKYPILOT, GPUHUNT, INFRACOST, GO, AZURE, JSON, OWN][which].as_bytes().to_vec();
        for (at, byte, kind) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                2 => bytes.insert(at, byte),
                _ => drop(bytes.drain(at..(at + usize::from(byte)).min(bytes.len()))),
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Ok(read) = super::read(&text, &about(name), Catalogue::embedded()) {
            let (own, _) = merge(&[], read.prices, Catalogue::embedded().prices());
            let kept = Catalogue::embedded().with_override("own", &written(&own));
            prop_assert!(kept.is_ok(), "{text}\n{}\n{:?}", written(&own), kept.err());
            prop_assert_eq!(read_as(&written(&own), &about("own.csv")).len(), own.len());
        }
    }

    #[test]
    fn no_text_panics(text in "(?s).{0,400}", name in ".{0,40}") {
        let _ = super::read(&text, &about(&name), Catalogue::embedded());
    }
}
