//! What a call or a copy does, by its name.

use crate::model::{Direction, Does};

/// Which way a copy goes, by its name: `Memcpy HtoD (Pageable -> Device)`, `CopyDeviceToHost`, `Memory copy M2D`.
pub(crate) fn direction(name: &[u8]) -> Direction {
    let has = |part: &str| memchr::memmem::find(name, part.as_bytes()).is_some();
    let any = |parts: &[&str]| parts.iter().any(|part| has(part));
    match () {
        () if any(&["HtoD", "HostToDevice", "HOST_TO_DEVICE", "M2D", "H2D", "HtoA"]) => Direction::HostToDevice,
        () if any(&["DtoH", "DeviceToHost", "DEVICE_TO_HOST", "D2M", "D2H", "AtoH"]) => Direction::DeviceToHost,
        () if any(&["PtoP", "PeerToPeer", "P2P"]) => Direction::PeerToPeer,
        () if any(&["DtoD", "DeviceToDevice", "DEVICE_TO_DEVICE", "D2D", "AtoA", "AtoD", "DtoA"]) => {
            Direction::DeviceToDevice
        }
        () => Direction::Unknown,
    }
}

/// What a call of CUDA's, HIP's or Level Zero's libraries does, by its name.
pub(crate) fn does(name: &[u8]) -> Option<Does> {
    let has = |part: &str| memchr::memmem::find(name, part.as_bytes()).is_some();
    match () {
        () if has("GraphLaunch") => Some(Does::LaunchGraph),
        () if has("Launch") && has("Kernel") => Some(Does::Launch),
        () if has("ynchronize") || has("EventWait") || has("QueueFinish") => Some(Does::Wait),
        () if has("Memcpy") && !has("Async") => Some(Does::Wait),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Direction, Does, direction, does};

    #[test]
    fn of_cuda_hip_and_level_zero() {
        for (name, what) in [
            ("cudaLaunchKernel", Some(Does::Launch)),
            ("cuLaunchKernelEx", Some(Does::Launch)),
            ("hipExtModuleLaunchKernel", Some(Does::Launch)),
            ("urEnqueueKernelLaunch", Some(Does::Launch)),
            ("cudaGraphLaunch", Some(Does::LaunchGraph)),
            ("cudaDeviceSynchronize", Some(Does::Wait)),
            ("hipMemcpyWithStream", Some(Does::Wait)),
            ("cudaMemcpyAsync", None),
            ("cudaLaunchHostFunc", None),
            ("cudaStreamWaitEvent", None),
        ] {
            assert_eq!(does(name.as_bytes()), what, "{name}");
        }
        assert_eq!(direction(b"Memcpy DtoH (Device -> Pinned)"), Direction::DeviceToHost);
        assert_eq!(direction(b"MEMORY_COPY_HOST_TO_DEVICE"), Direction::HostToDevice);
        assert_eq!(direction(b"Memcpy PtoP (Device -> Device)"), Direction::PeerToPeer);
        assert_eq!(direction(b"fill"), Direction::Unknown);
    }
}
