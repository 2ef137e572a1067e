import type { Reporter } from '../domain/reporter.ts';
import type { Meters } from './meters.ts';

/** Adds what retention deleted and kept, and when it last went through all sensors. */
export function addRetentionMetrics({
  counter,
  watched,
}: Meters): Pick<Reporter, 'retentionStepped' | 'retentionRoundEnded'> {
  const datapoints = counter(
    'kipimo_retention_datapoints_deleted_total',
    'Datapoints that retention deleted since the start.',
  );
  const hours = counter(
    'kipimo_retention_hourly_values_deleted_total',
    'Hourly values that retention deleted since the start: they were older than theirs.',
  );
  const kept = counter(
    'kipimo_retention_hourly_values_kept_total',
    'Hourly values that were kept since the start, for the datapoints deleted.',
  );
  let lastRound: number | undefined;
  watched(
    'gauge',
    'kipimo_retention_last_round_timestamp_seconds',
    { help: 'When retention last went through all sensors, in seconds since 1970; none: 0.' },
    () => [[lastRound ?? 0]],
  );
  return {
    retentionStepped(step) {
      datapoints.inc(step.datapoints);
      hours.inc(step.hours);
      kept.inc(step.hoursKept);
    },
    retentionRoundEnded(at) {
      lastRound = at / 1_000;
    },
  };
}
