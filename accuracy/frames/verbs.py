"""What each method of a data frame library does, by its name: the rule of `callables/*.csv`."""

from __future__ import annotations

#: Rule → names. Where a name is in none, its class decides: see `rule`.
_VERBS = {
    "none": "axes attrs flags name names dtype dtypes columns index shape size ndim empty nbytes plot hist boxplot style "
    "info memory_usage keys levels nlevels levshape codes categories ordered tz freq unit str dt cat sparse list struct "
    "array is_ set_flags levels inferred_type inferred_freq hasnans get_level_values isocalendar exclusions level "
    "resolution start stop step values_ get_option set_option reset_option describe_option option_context "
    "show_versions test set_eng_float_format closed left right mid ndim_ nlevels_ obj grouper sort as_index dropna_",
    "composite": "pipe assign select_dtypes get squeeze pop eval_",
    "frame:view": "filter head tail T transpose swapaxes rename rename_axis set_axis set_index add_prefix add_suffix droplevel "
    "swaplevel reorder_levels groupby rolling expanding ewm resample drop insert set_names set_levels set_codes "
    "copy view infer_objects at iat loc iloc xs isetitem first last truncate to_frame to_series __iter__ items "
    "iterrows itertuples ravel swaplevel flatten_ to_flat_index as_ordered as_unordered set_categories "
    "add_categories remove_categories rename_categories reorder_categories remove_unused_categories online "
    "between_time at_time repeat_ convert_dtypes set_geometry __finalize__ to_xarray from_arrow from_tuples "
    "from_frame from_arrays from_product to_period to_timestamp as_unit",
    "frame:read": "to_numpy to_list tolist to_dict values item array_ to_records __array__ __float__ __int__ __bool__ "
    "__contains__ equals identical __repr__ __str__ to_string to_markdown to_html to_latex to_clipboard to_pickle "
    "to_excel to_sql to_stata to_hdf to_gbq to_iceberg to_xml to_pydatetime to_pytimedelta first_valid_index "
    "last_valid_index nbytes_ get_loc get_slice_bound slice_locs slice_indexer",
    "frame:fold": "sum prod product mean median min max var std sem skew kurt kurtosis any all count mode quantile describe "
    "agg aggregate corr cov corrwith idxmax idxmin argmax argmin autocorr dot is_monotonic_increasing "
    "is_monotonic_decreasing __matmul__ __rmatmul__ memory_ size_ ngroups infer_freq",
    "frame:scan": "cumsum cumprod cummax cummin ffill bfill interpolate cumcount ngroup diff pct_change",
    "frame:gather": "take reindex reindex_like align sample get_group repeat explode where_ nth get_indexer "
    "get_indexer_for get_indexer_non_unique asfreq asof asof_locs insert_ delete searchsorted get_locs "
    "get_loc_level reindex_ first_ last_ indices groups",
    "frame:filter": "dropna query drop_ truncate_ __getitem__ nonzero",
    "frame:sort": "sort_values sort_index argsort rank sortlevel factorize",
    "frame:top_k": "nlargest nsmallest",
    "frame:distinct": "drop_duplicates duplicated unique nunique value_counts is_unique has_duplicates union "
    "intersection difference symmetric_difference isin",
    "frame:join": "merge join merge_asof merge_ordered combine_first combine compare update",
    "frame:concat": "concat append",
    "frame:pivot": "pivot pivot_table crosstab stack unstack melt wide_to_long lreshape get_dummies from_dummies "
    "unpivot transpose_",
    "frame:date": "to_datetime to_timedelta date_range bdate_range period_range timedelta_range interval_range tz_localize "
    "tz_convert strftime day_name month_name normalize total_seconds isocalendar",
    "frame:read_csv": "read_csv read_table read_fwf",
    "frame:read_parquet": "read_parquet read_orc read_feather",
    "frame:read_json": "read_json json_normalize",
    "frame:host": "read_excel read_sql read_sql_query read_sql_table read_html read_xml read_pickle read_hdf read_stata "
    "read_sas read_spss read_clipboard read_gbq read_iceberg style_ DataFrame Series Index Categorical from_records from_dict array __init__ col",
    "frame:write_text": "to_csv to_json",
    "frame:write_parquet": "to_parquet to_orc to_feather",
}
_BY_NAME = {name: verb for verb, names in _VERBS.items() for name in names.split()}

#: What a class does with a name that is not in the table, and with those whose meaning it changes.
_BY_CLASS = {
    "GroupBy": "frame:group_by",
    "Resampler": "frame:group_by",
    "Rolling": "frame:rolling",
    "Expanding": "frame:rolling",
    "ExponentialMovingWindow": "frame:rolling",
    "str": "frame:text",
    "dt": "frame:date",
    "cat": "frame:map",
}
#: Verbs of a name that such a class does not change.
_KEPT = {"none", "composite", "frame:view", "frame:pivot"}


def rule(owner: str, name: str) -> str:
    """The rule of `name` of a class: of `DataFrameGroupBy`, `sum` is no fold but a group-by."""
    known = _BY_NAME.get(name)
    group = next((verb for part, verb in _BY_CLASS.items() if owner.endswith(part)), None)
    if group is None:
        return known or "frame:map"
    if owner.endswith((".str", ".dt")):
        return "frame:pivot" if name == "get_dummies" else group
    if name in ("head", "tail", "first", "last", "nth", "get_group", "size", "ngroups", "groups", "indices"):
        return group if name not in ("get_group",) else "frame:gather"
    if name == "__getitem__":
        return "frame:view"
    return known if known in _KEPT else group
