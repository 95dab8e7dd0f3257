"""Libraries that scripts ask for a GPU, a row each: how they refuse where there is none, or go on, on the CPU.

A library that is missing here is a row like the others. CuPy and PyTorch have none: their GPU can be imitated.
"""

from __future__ import annotations

from collections import namedtuple

#: A library that ends the script where it has no GPU. `modules`: top-level modules that are for a GPU alone, so that a
#: script that imports them asks for one. `errors`: an exception's class and part of its text. `instead`: what the user
#: can do, as the end of a sentence.
Refusal = namedtuple("Refusal", "library modules errors instead")

#: A library that goes on, on the CPU. The function `name` of `module` is called with one of `words` (lower case) in an
#: argument, or gives back `False` where there are no `words`.
Fallback = namedtuple("Fallback", "library module name words instead")

#: `breakeven run` makes a command of it.
_PRETENDED = "--pretend-gpu NAME records it as if there were"
_PORTED = "record it with {} in its place, which does the same on a CPU"

REFUSALS = (
    Refusal(
        "cuDF",
        ("cudf", "dask_cudf", "cudf_polars", "cudf_kafka"),
        (),
        "breakeven estimate --rows N, which compares a group-by of N rows in pandas with cuDF",
    ),
    Refusal("cuML", ("cuml",), (), _PORTED.format("scikit-learn")),
    Refusal("cuGraph", ("cugraph", "nx_cugraph", "pylibcugraph", "cugraph_pyg"), (), _PORTED.format("NetworkX")),
    Refusal("cuSpatial", ("cuspatial",), (), _PORTED.format("GeoPandas")),
    Refusal("cuxfilter", ("cuxfilter",), (), _PORTED.format("Datashader")),
    Refusal("cuCIM", ("cucim",), (), _PORTED.format("scikit-image")),
    Refusal("cuSignal", ("cusignal",), (), _PORTED.format("scipy.signal, or cupyx.scipy.signal,")),
    Refusal("cuVS", ("cuvs", "pylibraft", "raft_dask"), (), _PORTED.format("FAISS or scikit-learn's NearestNeighbors")),
    Refusal("RAPIDS", ("rmm", "kvikio", "ucxx", "nvtabular", "merlin"), (), _PORTED.format("NumPy")),
    Refusal("Dask-CUDA", ("dask_cuda",), (), _PORTED.format("dask.distributed.LocalCluster")),
    Refusal("cuPyNumeric", ("cupynumeric", "cunumeric", "legate"), (), _PORTED.format("NumPy")),
    Refusal("nvmath", ("nvmath", "cuquantum"), (), _PORTED.format("NumPy or SciPy")),
    Refusal(
        "Numba's CUDA",
        ("numba_cuda",),
        (("CudaSupportError", ""), ("CudaDriverError", ""), ("NvvmSupportError", "")),
        _PRETENDED,
    ),
    Refusal(
        "PyCUDA",
        ("pycuda", "skcuda"),
        (),
        "write it with CuPy (its RawKernel takes the same kernels), which is imitated",
    ),
    Refusal("CUDA Python", ("cuda",), (), "write it with CuPy, which is imitated"),
    Refusal(
        "PyOpenCL",
        ("pyopencl",),
        (("RuntimeError", "no CL platforms available"), ("LogicError", "PLATFORM_NOT_FOUND")),
        "install pocl, which runs OpenCL on the CPU, or write it with CuPy, which is imitated",
    ),
    Refusal(
        "Warp",
        ("warp",),
        (("RuntimeError", "CUDA is not supported by the hardware"), ("ValueError", "Invalid device identifier: cuda")),
        'record it with device="cpu"',
    ),
    Refusal(
        "JAX",
        (),
        (
            ("RuntimeError", "Unknown backend: 'gpu'"),
            ("RuntimeError", "Unknown backend: 'cuda'"),
            ("RuntimeError", "Unknown backend: 'rocm'"),
            ("RuntimeError", "Unknown backend 'gpu'"),
            ("RuntimeError", "Unable to initialize backend 'cuda'"),
            ("RuntimeError", "Unable to initialize backend 'rocm'"),
            ("RuntimeError", "Unable to initialize backend 'gpu'"),
        ),
        _PRETENDED,
    ),
    Refusal(
        "polars",
        (),
        (("ModuleNotFoundError", "GPU engine requested"), ("ImportError", "GPU engine requested")),
        'leave engine="gpu" out to record it on the CPU',
    ),
    Refusal(
        "XGBoost",
        (),
        (("XGBoostError", "gpu_hist"), ("XGBoostError", "GPU support"), ("XGBoostError", "CUDA")),
        'record it with device="cpu" and tree_method="hist"',
    ),
    Refusal(
        "LightGBM",
        (),
        (
            ("LightGBMError", "GPU Tree Learner was not enabled"),
            ("LightGBMError", "CUDA Tree Learner was not enabled"),
            ("LightGBMError", "No OpenCL device found"),
        ),
        'record it with device_type="cpu"',
    ),
    Refusal(
        "CatBoost",
        (),
        (("CatBoostError", "CUDA error"), ("CatBoostError", "task type [GPU] not found")),
        'record it with task_type="CPU"',
    ),
    Refusal(
        "TensorFlow",
        (),
        (("InvalidArgumentError", "device:GPU"), ("InvalidArgumentError", "device specification '/GPU")),
        'record it with tf.device("/CPU:0")',
    ),
    Refusal(
        "FAISS",
        (),
        (
            ("AttributeError", "'StandardGpuResources'"),
            ("AttributeError", "'index_cpu_to_gpu"),
            ("AttributeError", "'GpuIndex"),
            ("NameError", "'GpuResourcesVector'"),
        ),
        "record it with the index on the CPU",
    ),
    Refusal(
        "OpenCV",
        (),
        (("error", "No CUDA support"), ("error", "compiled without CUDA"), ("AttributeError", "'cuda_")),
        "record it with the functions outside cv2.cuda",
    ),
    Refusal("spaCy", (), (("ValueError", "No GPU devices detected"),), "leave spacy.require_gpu() out"),
    Refusal(
        "PaddlePaddle",
        (),
        (("ValueError", "PaddlePaddle is not compiled with CUDA"),),
        'record it with paddle.set_device("cpu")',
    ),
    Refusal("MXNet", (), (("MXNetError", "USE_CUDA"),), "record it with mx.cpu()"),
    Refusal(
        "CTranslate2",
        (),
        (("ValueError", "not compiled with CUDA support"),),
        'record it with device="cpu"',
    ),
    Refusal(
        "OpenMM",
        (),
        (("OpenMMException", 'Platform called "CUDA"'), ("OpenMMException", 'Platform called "OpenCL"')),
        "record it on the platform CPU",
    ),
    Refusal(
        "TensorRT",
        ("tensorrt", "tensorrt_llm", "torch_tensorrt"),
        (),
        "record the PyTorch model that the engine is built from, with --pretend-gpu NAME",
    ),
    Refusal(
        "Triton",
        ("triton",),
        (),
        "install triton: with --pretend-gpu NAME its kernels are interpreted beside PyTorch's",
    ),
    Refusal(
        "flash-attn",
        ("flash_attn", "xformers", "apex", "transformer_engine"),
        (),
        "record it with PyTorch's own layers, with --pretend-gpu NAME",
    ),
    Refusal("NVIDIA DALI", ("nvidia",), (), "record it with a loader that runs on the CPU"),
    # Whatever library it is, last: the driver's own words.
    Refusal(
        "CUDA",
        (),
        (
            ("ImportError", "libcuda.so"),
            ("OSError", "libcuda.so"),
            ("ImportError", "libcudart"),
            ("OSError", "libcudart"),
            ("", "CUDA driver version is insufficient"),
            ("", "no CUDA-capable device is detected"),
        ),
        "record a version of it that runs on the CPU",
    ),
)

FALLBACKS = (
    Fallback("XGBoost", "xgboost.core", "Booster.set_param", ("cuda", "gpu"), 'device="cpu" says that it is meant'),
    Fallback("TensorFlow", "tensorflow", "device", ("gpu",), 'tf.device("/CPU:0") says that it is meant'),
    *(
        Fallback("TensorFlow", "tensorflow", f"config.{name}", ("gpu",), "--pretend-gpu NAME answers as if one were")
        for name in ("list_physical_devices", "experimental.list_physical_devices", "list_logical_devices")
    ),
    Fallback(
        "ONNX Runtime",
        "onnxruntime",
        "InferenceSession.__init__",
        ("cudaexecutionprovider", "tensorrtexecutionprovider", "rocmexecutionprovider", "migraphxexecutionprovider"),
        "CPUExecutionProvider says that it is meant",
    ),
    Fallback(
        "Taichi",
        "taichi",
        "init",
        ("cuda", "vulkan", "amdgpu", "metal", "opengl"),
        "ti.init(arch=ti.cpu) says that it is meant",
    ),
    Fallback("spaCy", "spacy", "prefer_gpu", (), "without spacy.prefer_gpu() it runs the same"),
)
