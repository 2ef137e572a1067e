import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Correction, Datapoint, Device, Sensor } from '../../api/types.ts';
import { unitSymbol } from '../../api/unit-symbol.ts';
import { usableZone } from '../../charts/zone.ts';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { formatStored } from '../../i18n/later-formats.ts';
import { now } from '../../state/clock.ts';
import { correctionsMade } from '../../state/corrections.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { Age } from '../../ui/age.tsx';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useSeen } from '../../ui/use-seen.ts';
import { type Change, changesOf, type Pushed } from './changes.ts';
import { correctionsPath, type SensorIds, undo, valuesPath } from './corrections.ts';

const undoMs = 30 * 86_400_000;

/** What was taken away or put right of a sensor: who, when, how many, and the way back. */
export function CorrectionList(props: {
  readonly device: Device;
  readonly sensor: Sensor;
  readonly onChange: () => void;
}): JSX.Element {
  const { device, sensor, onChange } = props;
  const [isOpen, setOpen] = useState(false);
  const ids = { device: device.id, sensor: sensor.id };
  const { value, error, reload } = useResource(
    isOpen ? `corrections ${device.id} ${sensor.id} ${correctionsMade.value}` : undefined,
    (signal) => api.getJson<readonly Correction[]>({ path: correctionsPath(ids), signal }),
  );
  return (
    <details class="surface fold" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('corrections.list')}</summary>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined
        ? error === undefined && isOpen && <Skeleton height={60} />
        : value.length === 0 && <p class="quiet">{t('corrections.none')}</p>}
      {value !== undefined && value.length > 0 && (
        <ul>
          {value.map((one) => (
            <Row
              key={one.id}
              {...{ one, ids, onChange }}
              unit={unitSymbol(sensor.unit)}
              zone={usableZone(device.timezone)}
            />
          ))}
        </ul>
      )}
    </details>
  );
}

function Row(props: {
  readonly one: Correction;
  readonly ids: SensorIds;
  readonly unit: string;
  readonly zone: string;
  readonly onChange: () => void;
}): JSX.Element {
  const { one, ids, unit, zone, onChange } = props;
  const place = useRef<HTMLLIElement>(null);
  const changes = useChanges(ids, one, useSeen(place));
  const [isBusy, setBusy] = useState(false);
  const made = Date.parse(one.date);
  const show = (text: string, style: 'moment' | 'day' | 'time'): string =>
    formatDate(Date.parse(text), { language: language.value, style, zone });
  const from = show(one.from, 'moment');
  const isOneDay = show(one.from, 'day') === show(one.to, 'day');
  const to = show(one.to, isOneDay ? 'time' : 'moment');
  return (
    <li class="row row-apart correction" ref={place}>
      <div>
        <p>{t(`corrections.${one.kind}`, { count: one.count })}</p>
        <p class="number correction-values">
          {changes.map((change) => changeText(change, unit)).join(' · ')}
          {changes.length > 0 && changes.length < one.count && ' · …'}
        </p>
        <p class="small quiet">
          {from === show(one.to, 'moment') ? from : `${from} – ${to}`} ·{' '}
          {t('corrections.by', { name: one.by })} · <Age at={made} />
        </p>
      </div>
      {now.value - made < undoMs && (
        <button
          type="button"
          class="button"
          disabled={isBusy}
          onClick={() => {
            setBusy(true);
            void undo(ids, one.id, onChange).finally(() => setBusy(false));
          }}
        >
          {t('common.undo')}
        </button>
      )}
    </li>
  );
}

/** From what to what, or what was removed. */
export function changeText(change: Change, unit: string): string {
  const say = (value: unknown): string =>
    `${formatStored(value, language.value, t)} ${unit}`.trim();
  return change.after === undefined
    ? say(change.before)
    : `${say(change.before)} → ${say(change.after)}`;
}

/** Looks for the values of a correction among so many of its time. */
const lookedThroughMax = 100;

const none: readonly Change[] = [];

function useChanges(ids: SensorIds, one: Correction, isSeen: boolean): readonly Change[] {
  const { value } = useResource(
    isSeen ? `changes ${ids.device} ${ids.sensor} ${one.id} ${correctionsMade.value}` : undefined,
    async (signal) => {
      const read = <Item extends Datapoint>(raw: 'true' | 'false') =>
        api.getJson<readonly Item[]>({
          path: valuesPath(ids),
          query: {
            ...{ dateFrom: one.from, dateTo: one.to, limit: lookedThroughMax },
            ...{ raw, calibrated: 'true' },
          },
          signal,
        });
      const [pushed, shown] = await Promise.all([read<Pushed>('true'), read('false')]);
      return changesOf(one, pushed, shown);
    },
  );
  return value ?? none;
}
