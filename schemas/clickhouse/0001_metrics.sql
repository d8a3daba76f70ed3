-- Metrics: samples, whole histograms, the series catalogue, label values and metadata.
-- Why the keys and codecs are what they are: README.md beside this folder.

CREATE TABLE IF NOT EXISTS samples
(
    tenant   LowCardinality(String) CODEC(ZSTD(1)),
    metric   LowCardinality(String) CODEC(ZSTD(1)),
    b        DateTime('UTC') CODEC(ZSTD(1)),
    id       UInt64 CODEC(ZSTD(1)),
    ts       DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    value    Float64 CODEC(Delta, ZSTD(3)),
    start_ts DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    ret_days UInt16 CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY (ret_days, toDate(ts))
ORDER BY (tenant, metric, b, id, ts)
TTL toDateTime(ts) + toIntervalDay(ret_days)
SETTINGS index_granularity = 2048, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS histograms
(
    tenant         LowCardinality(String) CODEC(ZSTD(1)),
    metric         LowCardinality(String) CODEC(ZSTD(1)),
    b              DateTime('UTC') CODEC(ZSTD(1)),
    id             UInt64 CODEC(ZSTD(1)),
    ts             DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    start_ts       DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    count          UInt64 CODEC(Delta, ZSTD(1)),
    sum            Nullable(Float64) CODEC(ZSTD(3)),
    min            Nullable(Float64) CODEC(ZSTD(1)),
    max            Nullable(Float64) CODEC(ZSTD(1)),
    scale          Int8 CODEC(ZSTD(1)),
    zero_threshold Float64 CODEC(ZSTD(1)),
    zero_count     UInt64 CODEC(ZSTD(1)),
    pos_offset     Int32 CODEC(ZSTD(1)),
    pos            Array(UInt64) CODEC(T64, ZSTD(1)),
    neg_offset     Int32 CODEC(ZSTD(1)),
    neg            Array(UInt64) CODEC(T64, ZSTD(1)),
    ret_days       UInt16 CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY (ret_days, toDate(ts))
ORDER BY (tenant, metric, b, id, ts)
TTL toDateTime(ts) + toIntervalDay(ret_days)
SETTINGS index_granularity = 2048, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS series
(
    tenant     LowCardinality(String),
    metric     LowCardinality(String),
    day        Date,
    id         UInt64,
    kind       SimpleAggregateFunction(any, UInt8),
    labels     SimpleAggregateFunction(any, Map(String, String)) CODEC(ZSTD(3)),
    bounds     SimpleAggregateFunction(any, Array(Float64)) CODEC(ZSTD(1)),
    first_seen SimpleAggregateFunction(min, DateTime('UTC')),
    last_seen  SimpleAggregateFunction(max, DateTime('UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toMonday(day)
ORDER BY (tenant, metric, id, day)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS label_values
(
    tenant    LowCardinality(String),
    key       LowCardinality(String),
    metric    LowCardinality(String),
    val       String CODEC(ZSTD(1)),
    day       Date,
    last_seen SimpleAggregateFunction(max, DateTime('UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toMonday(day)
ORDER BY (tenant, key, metric, val, day);

CREATE MATERIALIZED VIEW IF NOT EXISTS label_values_mv TO label_values AS
SELECT tenant, kv.1 AS key, metric, kv.2 AS val, day, max(last_seen) AS last_seen
FROM series
ARRAY JOIN arrayZip(mapKeys(labels), mapValues(labels)) AS kv
GROUP BY tenant, key, metric, val, day;

CREATE TABLE IF NOT EXISTS metadata
(
    tenant  LowCardinality(String),
    family  String,
    type    LowCardinality(String),
    unit    LowCardinality(String),
    help    String CODEC(ZSTD(1)),
    updated DateTime('UTC')
)
ENGINE = ReplacingMergeTree(updated)
ORDER BY (tenant, family, type, unit, help)
SETTINGS non_replicated_deduplication_window = 10000;
