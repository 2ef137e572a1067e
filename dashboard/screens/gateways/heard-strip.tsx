import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { Gateway } from '../../api/types.ts';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { now } from '../../state/clock.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { useSeen } from '../../ui/use-seen.ts';
import { type HourState, hoursOfWeek, runsOf, weekHours, weekStart } from './heard-hours.ts';

const hourMs = 3_600_000;
/** Device ids asked for at once; the address of a request has an end. */
const devicesMax = 60;

interface Bucket {
  readonly timestamp: string;
}

/** When a gateway's devices were heard from in the last 7 days; silence is red. */
export function HeardStrip(props: {
  readonly gateway: Gateway;
  readonly name: string;
}): JSX.Element {
  const { gateway, name } = props;
  const place = useRef<HTMLDivElement>(null);
  const isSeen = useSeen(place);
  const start = weekStart(now.value);
  const devices = (gateway.devices ?? []).filter(({ sensors }) => sensors.length > 0);
  const ids = devices.slice(0, devicesMax).map(({ id }) => id);
  const { value } = useResource(
    isSeen && ids.length > 0 ? `heard ${gateway.id} ${start}` : undefined,
    (signal) =>
      api.getJson<readonly Bucket[]>({
        path: '/sensors_data',
        query: {
          device_id: ids.join(','),
          ...{ aggregate: 'count', interval: '1h', dateFrom: new Date(start).toISOString() },
        },
        signal,
      }),
  );
  const instants = (value ?? []).map(({ timestamp }) => Date.parse(timestamp));
  if (gateway.last_seen !== undefined) instants.push(Date.parse(gateway.last_seen));
  if (gateway.connected) instants.push(now.value);
  const hours = hoursOfWeek(instants, {
    now: now.value,
    since: Math.min(Date.parse(gateway.date_created), ...instants),
  });
  const isKnown = value !== undefined || ids.length === 0;
  return (
    <div class="heard" ref={place}>
      <span class="small quiet">{t('gateways.week')}</span>
      <div class="heard-row" role="img" aria-label={summaryOf(hours, name)}>
        {isKnown &&
          runsOf(hours).map((run) => (
            <span
              key={run.start}
              class={`heard-run is-${run.state}`}
              style={{ width: `${(run.length / weekHours) * 100}%` }}
              title={`${t(`gateways.${run.state}`)}: ${runText(start, run)}`}
            />
          ))}
      </div>
      <span class="heard-days small quiet" aria-hidden="true">
        <span>{formatDate(start, { language: language.value, style: 'dayMonth' })}</span>
        <span>{formatDate(now.value, { language: language.value, style: 'dayMonth' })}</span>
      </span>
    </div>
  );
}

function runText(start: number, run: { readonly start: number; readonly length: number }): string {
  const text = (hour: number): string =>
    formatDate(start + hour * hourMs, { language: language.value, style: 'moment' });
  return `${text(run.start)} – ${text(run.start + run.length)}`;
}

function summaryOf(hours: readonly HourState[], name: string): string {
  const silent = hours.filter((state) => state === 'silent').length;
  const heard = hours.filter((state) => state === 'heard').length;
  if (heard === 0) return t('gateways.weekNothing', { name });
  if (silent === 0) return t('gateways.weekFull', { name });
  return t('gateways.weekIs', { name, hours: silent, all: silent + heard });
}
