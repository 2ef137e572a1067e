import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { apiPaths } from '../../api/paths.ts';
import type { CalibrationPoint, Datapoint, Device, Sensor } from '../../api/types.ts';
import { formatNumber, numberOf } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { calibrationPoints, realValue } from '../../live/calibration.ts';
import { useAction } from '../../state/action.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { draftPoints, emptyPoint, type PointDraft, readPoints } from './calibration-draft.ts';
import { CalibrationPreview } from './calibration-preview.tsx';

const dayMs = 86_400_000;
const pointsMax = 20;

/** Correcting a sensor by comparing it with a good instrument; drawn before it is saved. */
export function CalibrationForm(props: {
  readonly device: Device;
  readonly sensor: Sensor;
  readonly onChange: () => void;
}): JSX.Element {
  const { device, sensor, onChange } = props;
  const known = calibrationPoints(sensor.calib);
  const isActive = known.length > 1 && sensor.calib?.linear.enabled !== false;
  const [draft, setDraft] = useState<readonly PointDraft[]>(() => draftPoints(known));
  const action = useAction();
  const points = readPoints(draft);
  const raw = useRawValues(device.id, sensor);
  const path = `${apiPaths.sensor(device.id, sensor.id)}/calib`;

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    if (points === undefined) return action.fail(t('device.calibNeedsTwo'));
    const json = { linear: linearOf(points) };
    if (!(await action.run(() => api.send({ method: 'PUT', path, json })))) return;
    showToast(t('device.calibSaved'));
    onChange();
  }

  async function stop(): Promise<void> {
    const json = { linear: { ...sensor.calib?.linear, enabled: false } };
    if (!(await action.run(() => api.send({ method: 'PUT', path, json })))) return;
    showToast(t('device.calibStopped'));
    onChange();
  }

  return (
    <form class="stack" onSubmit={save} noValidate>
      <p class="quiet">{t('device.calibrateText')}</p>
      {isActive && <p class="note">{t('device.calibOn')}</p>}
      <PointTable draft={draft} onDraft={setDraft} />
      <Example points={points} raw={raw.at(-1)?.value} />
      {points !== undefined && raw.length > 1 && <CalibrationPreview raw={raw} points={points} />}
      <FormError text={action.error} />
      <div class="row">
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          {t('device.calibSave')}
        </button>
        {isActive && (
          <button type="button" class="button" disabled={action.isBusy} onClick={stop}>
            {t('device.calibOff')}
          </button>
        )}
      </div>
    </form>
  );
}

function PointTable({
  draft,
  onDraft,
}: {
  readonly draft: readonly PointDraft[];
  readonly onDraft: (draft: readonly PointDraft[]) => void;
}): JSX.Element {
  const change = (place: number, part: Partial<PointDraft>): void =>
    onDraft(draft.map((point, index) => (index === place ? { ...point, ...part } : point)));
  return (
    <div class="stack-tight">
      <div class="points" aria-hidden="true">
        <span class="field-label">{t('device.sensorSays')}</span>
        <span class="field-label">{t('device.reallyIs')}</span>
      </div>
      {draft.map((point, place) => (
        // Points have no identity but their place.
        <div class="points" key={String(place)}>
          <input
            class="input"
            inputMode="decimal"
            autocomplete="off"
            aria-label={`${t('device.sensorSays')} (${place + 1})`}
            value={point.sensor}
            onInput={(event) => change(place, { sensor: event.currentTarget.value })}
          />
          <input
            class="input"
            inputMode="decimal"
            autocomplete="off"
            aria-label={`${t('device.reallyIs')} (${place + 1})`}
            value={point.real}
            onInput={(event) => change(place, { real: event.currentTarget.value })}
          />
          {draft.length > 2 && (
            <button
              type="button"
              class="button button-quiet button-icon"
              aria-label={t('device.removePoint')}
              onClick={() => onDraft(draft.filter((_point, index) => index !== place))}
            >
              <Icon name="close" />
            </button>
          )}
        </div>
      ))}
      {draft.length < pointsMax && (
        <button
          type="button"
          class="button button-quiet tiles-add"
          onClick={() => onDraft([...draft, emptyPoint])}
        >
          <Icon name="plus" />
          {t('device.addPoint')}
        </button>
      )}
    </div>
  );
}

function Example(props: {
  readonly points: readonly CalibrationPoint[] | undefined;
  readonly raw: number | undefined;
}): JSX.Element | null {
  const { points, raw } = props;
  if (points === undefined || raw === undefined) return null;
  const show = (value: number) => formatNumber(value, language.value);
  return <p>{t('device.calibExample', { raw: show(raw), real: show(realValue(points, raw)) })}</p>;
}

function linearOf(points: readonly CalibrationPoint[]): object {
  const [value_min, value_max] = points;
  return points.length === 2 ? { enabled: true, value_min, value_max } : { enabled: true, points };
}

interface RawValue {
  readonly at: number;
  readonly value: number;
}

const noValues: readonly RawValue[] = [];

/** The last day as the sensor sent it, downsampled. */
function useRawValues(device: string, sensor: Sensor): readonly RawValue[] {
  const { value } = useResource(`raw ${device} ${sensor.id}`, async (signal) => {
    const path = `${apiPaths.sensor(device, sensor.id)}/values`;
    const dateFrom = new Date(Date.now() - dayMs).toISOString();
    const query = { calibrated: 'false', points: 200, dateFrom };
    const datapoints = await api.getJson<readonly Datapoint[]>({ path, query, signal });
    return datapoints.flatMap((datapoint) => {
      const number = numberOf(datapoint.value);
      const at = Date.parse(datapoint.timestamp ?? datapoint.date_received ?? '');
      return number === undefined || Number.isNaN(at) ? [] : [{ at, value: number }];
    });
  });
  return value ?? noValues;
}
