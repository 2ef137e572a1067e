import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { apiPaths } from '../../api/paths.ts';
import type { Sensor } from '../../api/types.ts';
import { numberOf } from '../../i18n/formats.ts';
import { t } from '../../i18n/i18n.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { useSeen } from '../../ui/use-seen.ts';
import { trendPath } from './trend-path.ts';

const dayMs = 86_400_000;
const quarterMs = 900_000;
const width = 96;
const height = 28;

interface Bucket {
  readonly timestamp: string;
  readonly value?: number;
}

/** The last day of one sensor as a small line; fetched when the card comes into view. */
export function DeviceTrend(props: {
  readonly device: string;
  readonly sensor: Sensor;
  readonly isStale: boolean;
}): JSX.Element {
  const { device, sensor, isStale } = props;
  const place = useRef<HTMLSpanElement>(null);
  const isSeen = useSeen(place);
  const isNumber = numberOf(sensor.last_value?.value) !== undefined;
  // Cards that are drawn again within minutes draw the same line.
  const to = Math.ceil(Date.now() / quarterMs) * quarterMs;
  const from = to - dayMs;
  const { value } = useResource(
    isSeen && isNumber ? `trend ${device} ${sensor.id} ${to}` : undefined,
    (signal) =>
      api.getJson<readonly Bucket[]>({
        path: `${apiPaths.sensor(device, sensor.id)}/values`,
        query: { aggregate: 'avg', interval: '1h', dateFrom: new Date(from).toISOString() },
        signal,
      }),
  );
  const points = (value ?? []).flatMap((bucket) =>
    bucket.value === undefined ? [] : [{ at: Date.parse(bucket.timestamp), value: bucket.value }],
  );
  const path = trendPath(points, { from, to, width, height, gapMs: 2 * 3_600_000 });
  return (
    <span class={isStale ? 'trend is-stale' : 'trend'} ref={place}>
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img">
        <title>{t('home.lastDay')}</title>
        {path !== '' && <path d={path} />}
      </svg>
    </span>
  );
}
