const change = `
  update sensors set arrivals = arrivals + added, bytes = bytes + took,
    newest = greatest(sensors.newest, given.newest),
    last_at = case when moves then given.last_at else sensors.last_at end,
    last_received = case when moves then given.last_received else sensors.last_received end,
    last_value = case when moves then given.last_value else sensors.last_value end
  from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::float8[],
    $6::boolean[], $7::float8[], $8::float8[], $9::text[])
    as given (bucket, series, added, took, newest, moves, last_at, last_received, last_value)
  where sensors.bucket = given.bucket and sensors.series = given.series`;
const insert = (sensors: string): string => `
  insert into hot (bucket, series, ordinal, min_time, max_time, count, points)
  select bucket, series, ordinal, min_time, max_time, count,
    substring($1::bytea from start + 1 for length)
  from ${sensors} unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::float8[], $6::float8[],
    $7::integer[], $8::integer[], $9::integer[])
    as rows (bucket, series, ordinal, min_time, max_time, count, start, length)`;
const behindNine = (sql: string): string =>
  sql.replaceAll(/\$(\d+)/g, (_, at) => `$${Number(at) + 9}`);

/** The changes of a commit to its sensors, and behind them the rows of `hot`. */
export const write = `with changed as (${change}) ${behindNine(insert(''))}`;

// Where there are parts, these instead: a row of `hot` is inserted by way of its sensor's, by which
// Citus knows where it is.
export const changeSensors = `${change} and sensors.bucket = any($1::smallint[])`;
export const insertHot = `
  ${insert('sensors join')} using (bucket, series) where bucket = any($2::smallint[])`;
