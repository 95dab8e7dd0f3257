//! A library with NVML's symbols that plays a session from the text file that `NVML_SESSION` names. The tests build it with
//! `rustc --crate-type cdylib`; `--cfg old` leaves out what drivers before 510 lack.
//!
//! The file: `driver VERSION`, or `init CODE` where the driver answers so; for each GPU a line `gpu NAME`, below it
//! `key=value` settings (`uuid memory limit link mig energy deny reset`), then points `at SECONDS key=value…` with the keys
//! `busy memory_busy used sm mem watts celsius reasons rx tx`, and `process PID MIB SM`. `-` is a value that the board does
//! not support. Power goes in straight lines from point to point, and the energy counter is its exact integral; the other
//! values stay until the next point. `at SECONDS lost` takes the GPU off the bus.
#![cfg_attr(old, allow(dead_code, reason = "it leaves functions out"))]
#![allow(non_snake_case, unused_unsafe, reason = "NVML's names; unsafe in edition 2024 and before")]

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;
use std::time::Instant;

const OK: c_int = 0;
const INVALID: c_int = 2;
const NOT_SUPPORTED: c_int = 3;
const NO_PERMISSION: c_int = 4;
const NOT_FOUND: c_int = 6;
const TOO_SMALL: c_int = 7;
const LOST: c_int = 15;

type Handle = *mut c_void;

#[derive(Default)]
struct Gpu {
    name: String,
    settings: HashMap<String, String>,
    points: Vec<(f64, HashMap<String, String>)>,
    lost: Option<f64>,
    processes: Vec<(c_uint, u64, c_uint)>,
}

struct Session {
    driver: String,
    init: c_int,
    gpus: Vec<Gpu>,
    start: Instant,
}

fn session() -> &'static Session {
    static SESSION: OnceLock<Session> = OnceLock::new();
    SESSION.get_or_init(|| {
        let path = std::env::var("NVML_SESSION").expect("NVML_SESSION names a session");
        let text = std::fs::read_to_string(path).expect("the session can be read");
        let mut all = Session { driver: "1.0".to_owned(), init: OK, gpus: Vec::new(), start: Instant::now() };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let pairs = |text: &str| -> HashMap<String, String> {
                let pair = |word: &str| word.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
                text.split_whitespace().filter_map(pair).collect()
            };
            match (word, all.gpus.last_mut()) {
                ("driver", _) => all.driver = rest.to_owned(),
                ("init", _) => all.init = rest.parse().expect("a code"),
                ("gpu", _) => all.gpus.push(Gpu { name: rest.to_owned(), ..Gpu::default() }),
                ("at", Some(gpu)) => {
                    let (at, values) = rest.split_once(' ').expect("a time and what is so then");
                    let at: f64 = at.parse().expect("a time in s");
                    if values == "lost" { gpu.lost = Some(at) } else { gpu.points.push((at, pairs(values))) }
                }
                ("process", Some(gpu)) => {
                    let n: Vec<u64> = rest.split_whitespace().map(|word| word.parse().expect("a number")).collect();
                    gpu.processes.push((n[0] as c_uint, n[1] << 20, n[2] as c_uint));
                }
                (_, Some(gpu)) => gpu.settings.extend(pairs(line)),
                _ => panic!("`{line}` stands before the first GPU"),
            }
        }
        all
    })
}

impl Session {
    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

impl Gpu {
    fn there(&self) -> bool {
        self.lost.is_none_or(|at| session().now() < at)
    }

    /// A value at a point in time: that of the last point that has it.
    fn value(&self, key: &str) -> Option<f64> {
        let now = session().now();
        let known =
            self.points.iter().take_while(|(at, _)| *at <= now).filter_map(|(_, values)| values.get(key)).last();
        known.or_else(|| self.settings.get(key))?.parse().ok()
    }

    fn legs(&self) -> Vec<(f64, f64)> {
        self.points.iter().filter_map(|(at, values)| Some((*at, values.get("watts")?.parse().ok()?))).collect()
    }

    fn watts(&self, at: f64) -> Option<f64> {
        let legs = self.legs();
        let next = legs.iter().position(|leg| leg.0 > at);
        match next {
            None | Some(0) => legs.last().filter(|_| next.is_none()).map(|leg| leg.1),
            Some(n) => {
                let ((t0, w0), (t1, w1)) = (legs[n - 1], legs[n]);
                Some(w0 + (w1 - w0) * (at - t0) / (t1 - t0))
            }
        }
    }

    fn joules(&self, until: f64) -> f64 {
        let legs = self.legs();
        let mut sum = 0.0;
        for (n, (from, watts)) in legs.iter().enumerate().filter(|(_, leg)| leg.0 < until) {
            let to = legs.get(n + 1).map_or(until, |next| next.0.min(until));
            sum += (watts + self.watts(to - 1e-12).unwrap_or(*watts)) / 2.0 * (to - from);
        }
        sum
    }
}

/// A GPU, and which of its MIG instances, from 1.
fn of(handle: Handle) -> Result<(&'static Gpu, usize), c_int> {
    let number = handle as usize;
    let gpu = session().gpus.get((number & 0xff).wrapping_sub(1)).ok_or(INVALID)?;
    if gpu.there() { Ok((gpu, number >> 8)) } else { Err(LOST) }
}

/// A value of a whole GPU, times a factor; the function that `deny` names is not permitted.
fn number(handle: Handle, key: &str, factor: f64) -> Result<f64, c_int> {
    let (gpu, instance) = of(handle)?;
    if gpu.settings.get("deny").is_some_and(|denied| denied.split(',').any(|name| name == key)) {
        return Err(NO_PERMISSION);
    }
    let mig = gpu.settings.contains_key("mig") && (instance > 0 || key.contains("busy"));
    if mig { Err(NOT_SUPPORTED) } else { gpu.value(key).map(|value| value * factor).ok_or(NOT_SUPPORTED) }
}

fn give<T>(to: *mut T, value: Result<T, c_int>) -> c_int {
    match value {
        Ok(value) => {
            unsafe { to.write(value) };
            OK
        }
        Err(code) => code,
    }
}

fn text(to: *mut c_char, room: c_uint, text: &str) -> c_int {
    if text.len() + 1 > room as usize {
        return TOO_SMALL;
    }
    for (n, byte) in text.bytes().chain([0]).enumerate() {
        unsafe { to.add(n).write(byte as c_char) };
    }
    OK
}

macro_rules! nvml {
    ($($(#[$when:meta])? fn $name:ident($($argument:ident: $type:ty),*) $body:block)*) => {
        $($(#[$when])? #[unsafe(no_mangle)] pub extern "C" fn $name($($argument: $type),*) -> c_int $body)*
    };
}

nvml! {
    fn nvmlInit_v2() { session().init }
    fn nvmlShutdown() { OK }
    fn nvmlSystemGetDriverVersion(to: *mut c_char, room: c_uint) { text(to, room, &session().driver) }
    fn nvmlDeviceGetCount_v2(to: *mut c_uint) { give(to, Ok(session().gpus.len() as c_uint)) }
    fn nvmlDeviceGetHandleByIndex_v2(n: c_uint, to: *mut Handle) { give(to, Ok((n as usize + 1) as Handle)) }
    fn nvmlDeviceGetName(gpu: Handle, to: *mut c_char, room: c_uint) {
        match of(gpu) {
            Ok((gpu, 0)) => text(to, room, &gpu.name),
            Ok((gpu, _)) => text(to, room, &format!("{} MIG 1g.10gb", gpu.name)),
            Err(code) => code,
        }
    }
    fn nvmlDeviceGetUUID(gpu: Handle, to: *mut c_char, room: c_uint) {
        of(gpu).map_or_else(|code| code, |(gpu, _)| text(to, room, gpu.settings.get("uuid").map_or("GPU-0", |uuid| uuid)))
    }
    fn nvmlDeviceGetMigMode(gpu: Handle, current: *mut c_uint, pending: *mut c_uint) {
        let mode = of(gpu).map(|(gpu, _)| c_uint::from(gpu.settings.contains_key("mig")));
        give(pending, mode);
        give(current, mode)
    }
    fn nvmlDeviceGetMaxMigDeviceCount(gpu: Handle, to: *mut c_uint) {
        // Seven places, of which the session fills some.
        give(to, of(gpu).map(|_| 7))
    }
    fn nvmlDeviceGetMigDeviceHandleByIndex(gpu: Handle, n: c_uint, to: *mut Handle) {
        let filled = of(gpu).map(|(gpu, _)| gpu.settings.get("mig").map_or(0, |count| count.parse().unwrap_or(0)));
        give(to, filled.and_then(|filled: c_uint| {
            if n < filled { Ok((gpu as usize | (n as usize + 1) << 8) as Handle) } else { Err(NOT_FOUND) }
        }))
    }
    fn nvmlDeviceGetEnforcedPowerLimit(gpu: Handle, to: *mut c_uint) {
        give(to, number(gpu, "limit", 1e3).map(|milliwatts| milliwatts as c_uint))
    }
    fn nvmlDeviceGetMaxPcieLinkGeneration(gpu: Handle, to: *mut c_uint) { give(to, number(gpu, "gen", 1.0).map(|n| n as c_uint)) }
    fn nvmlDeviceGetMaxPcieLinkWidth(gpu: Handle, to: *mut c_uint) { give(to, number(gpu, "width", 1.0).map(|n| n as c_uint)) }
    fn nvmlDeviceGetUtilizationRates(gpu: Handle, to: *mut [c_uint; 2]) {
        let memory = number(gpu, "memory_busy", 1.0).unwrap_or(0.0);
        give(to, number(gpu, "busy", 1.0).map(|busy| [busy as c_uint, memory as c_uint]))
    }
    #[cfg(not(old))]
    fn nvmlDeviceGetMemoryInfo_v2(gpu: Handle, to: *mut Memory) {
        let used = match of(gpu) {
            // An instance has an eighth of the memory.
            Ok((gpu, instance)) => gpu.value("used").zip(gpu.value("memory")).map(|(used, all)| {
                let share = if instance == 0 { 1.0 } else { 0.125 };
                [used * share, all * share].map(|mib| (mib * 1_048_576.0) as c_ulonglong)
            }).ok_or(NOT_SUPPORTED),
            Err(code) => Err(code),
        };
        give(to, used.map(|[used, total]| Memory { version: 0, total, reserved: 0, free: total - used, used }))
    }
    fn nvmlDeviceGetPowerUsage(gpu: Handle, to: *mut c_uint) {
        let watts = number(gpu, "watts", 1.0).and_then(|_| of(gpu)?.0.watts(session().now()).ok_or(NOT_SUPPORTED));
        give(to, watts.map(|watts| (watts * 1e3).round() as c_uint))
    }
    #[cfg(not(old))]
    fn nvmlDeviceGetTotalEnergyConsumption(gpu: Handle, to: *mut c_ulonglong) {
        let joules = number(gpu, "watts", 1.0).and_then(|_| {
            let (gpu, now) = (of(gpu)?.0, session().now());
            if gpu.settings.get("energy").is_some_and(|energy| energy == "-") {
                return Err(NOT_SUPPORTED);
            }
            let reset = gpu.settings.get("reset").and_then(|at| at.parse().ok()).filter(|at| *at <= now);
            Ok(gpu.joules(now) - reset.map_or(-5e4, |at| gpu.joules(at)))
        });
        give(to, joules.map(|joules| (joules * 1e3) as c_ulonglong))
    }
    fn nvmlDeviceGetClockInfo(gpu: Handle, which: c_uint, to: *mut c_uint) {
        give(to, number(gpu, if which == 2 { "mem" } else { "sm" }, 1.0).map(|mhz| mhz as c_uint))
    }
    #[cfg(not(old))]
    fn nvmlDeviceGetCurrentClocksThrottleReasons(gpu: Handle, to: *mut c_ulonglong) {
        give(to, number(gpu, "reasons", 1.0).map(|bits| bits as c_ulonglong))
    }
    fn nvmlDeviceGetTemperature(gpu: Handle, _sensor: c_uint, to: *mut c_uint) {
        give(to, number(gpu, "celsius", 1.0).map(|celsius| celsius as c_uint))
    }
    fn nvmlDeviceGetPcieThroughput(gpu: Handle, which: c_uint, to: *mut c_uint) {
        // As a driver does: it counts for 20 ms.
        std::thread::sleep(std::time::Duration::from_millis(20));
        give(to, number(gpu, if which == 0 { "tx" } else { "rx" }, 1.0).map(|kilobytes| kilobytes as c_uint))
    }
    #[cfg(not(old))]
    fn nvmlDeviceGetComputeRunningProcesses_v3(gpu: Handle, count: *mut c_uint, to: *mut Process) {
        let Ok((gpu, _)) = of(gpu) else { return LOST };
        let all = &gpu.processes;
        let room = unsafe { count.replace(all.len() as c_uint) };
        if (room as usize) < all.len() {
            return TOO_SMALL;
        }
        for (n, (pid, used, _)) in all.iter().enumerate() {
            unsafe { to.add(n).write(Process { pid: *pid, used: *used, gpu_instance: !0, compute_instance: !0 }) };
        }
        OK
    }
    fn nvmlDeviceGetProcessUtilization(gpu: Handle, to: *mut Utilization, count: *mut c_uint, _seen: c_ulonglong) {
        let Ok((gpu, _)) = of(gpu) else { return LOST };
        let room = unsafe { count.replace(gpu.processes.len() as c_uint) };
        if to.is_null() || (room as usize) < gpu.processes.len() {
            return TOO_SMALL;
        }
        let time = (session().now() * 1e6) as c_ulonglong + 1;
        for (n, (pid, _, sm)) in gpu.processes.iter().enumerate() {
            unsafe { to.add(n).write(Utilization { pid: *pid, time, sm: *sm, rest: [0; 3] }) };
        }
        OK
    }
}

/// `nvmlMemory_v2_t`.
#[repr(C)]
pub struct Memory {
    version: c_uint,
    total: c_ulonglong,
    reserved: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlProcessInfo_t`.
#[repr(C)]
pub struct Process {
    pid: c_uint,
    used: c_ulonglong,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

/// `nvmlProcessUtilizationSample_t`.
#[repr(C)]
pub struct Utilization {
    pid: c_uint,
    time: c_ulonglong,
    sm: c_uint,
    rest: [c_uint; 3],
}
