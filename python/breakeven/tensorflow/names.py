"""Operations of TensorFlow 2.16 to 2.21 that are one primitive each, by the primitive's name in the engine's table."""

from __future__ import annotations

#: Each element from those at its place.
_MAPS = {
    "abs": "Abs ComplexAbs",
    "acos": "Acos",
    "acosh": "Acosh",
    "add": "Add AddV2 BiasAdd",
    "and": "LogicalAnd BitwiseAnd",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atan2": "Atan2",
    "atanh": "Atanh",
    "ceil": "Ceil",
    "clamp": "ClipByValue Relu6",
    "complex": "Complex",
    "conj": "Conj",
    "convert_element_type": "Cast",
    "cos": "Cos",
    "cosh": "Cosh",
    "digamma": "Digamma",
    "div": "Div RealDiv DivNoNan FloorDiv TruncateDiv Xdivy Reciprocal Inv",
    "eq": "Equal ApproximateEqual",
    "erf": "Erf Erfc",
    "erf_inv": "Erfinv Ndtri",
    "exp": "Exp",
    "expm1": "Expm1 Elu",
    "floor": "Floor",
    "ge": "GreaterEqual",
    "gt": "Greater",
    "imag": "Imag",
    "is_finite": "IsFinite IsNan IsInf",
    "le": "LessEqual",
    "lgamma": "Lgamma",
    "log": "Log Xlogy",
    "log1p": "Log1p Softplus Xlog1py",
    "logistic": "Sigmoid",
    "lt": "Less",
    "max": "Maximum Relu LeakyRelu",
    "min": "Minimum",
    "mul": "Mul MulNoNan ReluGrad Relu6Grad LeakyReluGrad SqrtGrad EluGrad SeluGrad SoftsignGrad",
    "ne": "NotEqual",
    "neg": "Neg",
    "not": "LogicalNot Invert",
    "or": "LogicalOr BitwiseOr",
    "pow": "Pow",
    "real": "Real",
    "rem": "Mod FloorMod TruncateMod",
    "round": "Round Rint",
    "rsqrt": "Rsqrt",
    "select_n": "Select SelectV2",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "square": "Square L2Loss",
    "sub": "Sub",
    "tan": "Tan",
    "tanh": "Tanh Selu Softsign",
    "xor": "BitwiseXor",
}
#: Bytes that stay where they are.
_SAME = {
    "reshape": """Reshape Squeeze ExpandDims Identity IdentityN StopGradient PreventGradient Bitcast
    EnsureShape CheckNumerics
    Snapshot TensorListFromTensor TensorListStack TensorListConcatV2 PlaceholderWithDefault ReadVariableOp
    _EagerConst CollectiveReduceV2""",
}
#: Elements put elsewhere.
_MOVES = {
    "broadcast_in_dim": "BroadcastTo",
    "concatenate": "ConcatV2 Concat Pack ParallelConcat DynamicStitch Roll",
    "dynamic_slice": "TensorListGetItem",
    "full": "Fill ZerosLike OnesLike TensorListReserve EmptyTensorList",
    "gather": "Gather GatherV2 GatherNd ResourceGather ResourceGatherNd ResizeNearestNeighbor",
    "iota": "Range LinSpace",
    "pad": "Pad PadV2 MirrorPad StridedSliceGrad MatrixDiagV3 MatrixSetDiagV3 MatrixDiag",
    "rev": "ReverseV2 ReverseSequence",
    "slice": "Slice StridedSlice MatrixDiagPartV3 MatrixDiagPart MatrixBandPart",
    "split": "Split SplitV Unpack",
    "tile": "Tile",
    "transpose": "Transpose ConjugateTranspose DepthToSpace SpaceToDepth SpaceToBatchND BatchToSpaceND",
}
_FOLDS = {
    "argmax": "ArgMax",
    "argmin": "ArgMin",
    "reduce_and": "All",
    "reduce_max": "Max",
    "reduce_min": "Min",
    "reduce_or": "Any",
    "reduce_prod": "Prod",
    "reduce_sum": "Sum Mean BiasAddGrad EuclideanNorm",
}
_SCATTERS = {
    "scatter": "ScatterNd TensorScatterUpdate ResourceScatterUpdate ResourceScatterNdUpdate",
    "scatter-add": """TensorScatterAdd TensorScatterSub ResourceScatterAdd ResourceScatterSub
    ResourceScatterNdAdd UnsortedSegmentSum
    UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd SegmentSum SegmentMean SegmentSumV2
    SparseSegmentSum SparseSegmentMean Bincount DenseBincount""",
    "dynamic_update_slice": "TensorListSetItem TensorListPushBack TensorListSetItemV2",
}
_LIBRARIES = {
    "cholesky": "Cholesky",
    "lu": "Lu MatrixDeterminant LogMatrixDeterminant MatrixInverse",
    "qr": "Qr",
    "svd": "Svd",
    "eigh": "SelfAdjointEigV2",
    "eig": "Eig",
    "triangular_solve": "MatrixTriangularSolve",
    # Places of what is true are put together by a running sum.
    "cumsum": "Cumsum Cumprod CumulativeLogsumexp Where",
    "random_bits": """RandomUniform RandomStandardNormal RandomUniformInt TruncatedNormal StatelessRandomUniformV2
    StatelessRandomNormalV2 StatelessTruncatedNormalV2 StatelessRandomUniformIntV2
    StatelessRandomUniformFullIntV2 StatelessRandomUniform StatelessRandomNormal StatefulUniform
    StatefulStandardNormalV2 RandomShuffle Multinomial""",
    "pure_callback": "PyFunc EagerPyFunc PyFuncStateless PrintV2 StringFormat",
}
#: What the host does, or nobody: names of variables and iterators, shapes, what only orders others.
NOTHING = frozenset(
    """Const Placeholder NoOp Shape ShapeN Size Rank VarHandleOp IteratorGetNext OptionalHasValue OptionalGetValue
    OptionalFromValue OptionalNone IteratorGetNextAsOptional Assert AssertPrevNum VarIsInitializedOp
    DestroyResourceOp ControlTrigger VariableShape LoopCond Enter Exit NextIteration Merge Switch
    BroadcastGradientArgs BroadcastArgs InvertPermutation ConcatOffset AssignVariableOp TensorListLength
    TensorListElementShape StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg StatelessRandomGetAlg
    RngReadAndSkip MergeSummary WriteSummary WriteScalarSummary AnonymousIteratorV3 MakeIterator
    TensorSliceDataset BatchDatasetV2 StatefulRandomBinomial MutableHashTableV2 LookupTableFindV2
    LookupTableSizeV2 StaticRegexReplace StringJoin AsString TensorListPopBack StringSplitV2 DummySeedGenerator
    FlatMapDataset ModelDataset OptimizeDatasetV2 OptionsDataset PrefetchDataset RangeDataset ShuffleDatasetV3
    MapDataset ParallelMapDatasetV2 ParallelBatchDataset RepeatDataset TensorDataset ZipDataset TakeDataset
    CacheDatasetV2 FilterDataset DeleteIterator AnonymousSeedGenerator AnonymousMemoryCache RebatchDatasetV2
    AutoShardDataset""".split()
)

_ALL = (_MAPS, _SAME, _MOVES, _FOLDS, _SCATTERS, _LIBRARIES)
#: The primitive of an operation's type.
PRIMITIVES: dict[str, str] = {
    operation: primitive for table in _ALL for primitive, types in table.items() for operation in types.split()
}
FOLDS = frozenset(_FOLDS)
