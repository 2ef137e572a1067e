import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { errorSentence } from '../../api/error-sentence.ts';
import type { Device } from '../../api/types.ts';
import { usableZone } from '../../charts/zone.ts';
import { describeZone } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { type Resource, useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { sensorName } from '../../ui/value.tsx';
import { csvName, type RangeName, rangeNames, rangeQuery, sizeText } from './csv-range.ts';

/** As many datapoints as one read answers [contract 6]. */
const rowsMax = 1_000_000;
/** Value, two times and punctuation of a usual row. */
const rowBytes = 62;

/** Chooses sensors and a range, says how much that is, and saves it. */
export function CsvDownload({ device }: { readonly device: Device }): JSX.Element {
  const [chosen, setChosen] = useState<readonly string[]>(() => device.sensors.map(({ id }) => id));
  const [range, setRange] = useState<RangeName>('month');
  const [isRaw, setRaw] = useState(false);
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  // The end of a preset stands still while somebody looks at its count.
  const now = useRef(Date.now());
  const zone = usableZone(device.timezone);
  const query = {
    device_id: device.id,
    sensor_id: chosen.join(','),
    ...rangeQuery(range, { now: now.current, from, to, zone }),
    ...(isRaw && { calibrated: 'false' }),
  };
  const count = useRowCount(query, chosen.length > 0);
  const rows = count.value;
  const isOff = chosen.length === 0 || rows === 0 || (rows ?? 0) > rowsMax;
  const bytes = (rows ?? 0) * (rowBytes + device.id.length + 8);
  return (
    <div class="stack">
      <SensorChoice device={device} chosen={chosen} onChosen={setChosen} />
      <fieldset class="fieldset stack-tight">
        <legend>{t('data.range')}</legend>
        <div class="segments">
          {rangeNames.map((name) => (
            <button
              key={name}
              type="button"
              class="segment"
              aria-pressed={range === name}
              onClick={() => setRange(name)}
            >
              {t(`data.${name}`)}
            </button>
          ))}
        </div>
        {range === 'own' && (
          <div class="form-grid">
            <TextField label={t('data.from')} type="date" value={from} onValue={setFrom} />
            <TextField label={t('data.to')} type="date" value={to} onValue={setTo} />
          </div>
        )}
        <p class="field-hint">
          {range === 'own' && (
            <>
              {t('data.zone')} {describeZone(zone, now.current)}.{' '}
            </>
          )}
          {t('data.utcNote')}
        </p>
      </fieldset>
      {device.sensors.some(({ calib }) => calib !== undefined) && (
        <label class="choice">
          <input
            type="checkbox"
            checked={isRaw}
            onChange={(event) => setRaw(event.currentTarget.checked)}
          />
          {t('data.raw')}
        </label>
      )}
      <Amount sensors={chosen.length} count={count} bytes={bytes} />
      <SaveButton device={device} query={query} bytes={bytes} isOff={isOff} />
    </div>
  );
}

function Amount(props: {
  readonly sensors: number;
  readonly count: Resource<number>;
  readonly bytes: number;
}): JSX.Element {
  const { sensors, count, bytes } = props;
  if (count.error !== undefined && count.value === undefined) {
    return <ErrorBox error={count.error} onRetry={count.reload} />;
  }
  return <p aria-live="polite">{amountText(sensors, count.value, bytes)}</p>;
}

function amountText(sensors: number, rows: number | undefined, bytes: number): string {
  if (sensors === 0) return t('data.noneChosen');
  if (rows === undefined) return t('data.counting');
  if (rows === 0) return t('data.nothing');
  if (rows > rowsMax) return t('data.tooMany');
  const size = t('data.size', { size: sizeText(bytes, language.value) });
  return `${t('data.rows', { count: rows })} · ${size}`;
}

type Query = Readonly<Record<string, string | number>>;

function useRowCount(query: Query, isWanted: boolean): Resource<number> {
  return useResource(isWanted ? `count ${JSON.stringify(query)}` : undefined, async (signal) => {
    const counts = await api.getJson<readonly { readonly value?: number }[]>({
      path: '/sensors_data',
      query: { ...query, aggregate: 'count' },
      signal,
    });
    return counts.reduce((sum, { value: count }) => sum + (count ?? 0), 0);
  });
}

function SensorChoice(props: {
  readonly device: Device;
  readonly chosen: readonly string[];
  readonly onChosen: (chosen: readonly string[]) => void;
}): JSX.Element {
  const { device, chosen, onChosen } = props;
  const all = device.sensors.map(({ id }) => id);
  return (
    <fieldset class="fieldset">
      <legend>{t('data.which')}</legend>
      <div class="choices">
        {all.length > 1 && (
          <label class="choice">
            <input
              type="checkbox"
              checked={chosen.length === all.length}
              onChange={(event) => onChosen(event.currentTarget.checked ? all : [])}
            />
            {t('data.allSensors')}
          </label>
        )}
        {device.sensors.map((sensor) => (
          <label class="choice" key={sensor.id}>
            <input
              type="checkbox"
              checked={chosen.includes(sensor.id)}
              onChange={(event) =>
                onChosen(
                  all.filter((id) =>
                    id === sensor.id ? event.currentTarget.checked : chosen.includes(id),
                  ),
                )
              }
            />
            {sensorName(sensor)}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function SaveButton(props: {
  readonly device: Device;
  readonly query: Query;
  readonly bytes: number;
  readonly isOff: boolean;
}): JSX.Element {
  const { device, query, bytes, isOff } = props;
  const [received, setReceived] = useState<number>();
  const [error, setError] = useState<string>();
  const abort = useRef<AbortController>(undefined);

  async function save(): Promise<void> {
    const controller = new AbortController();
    abort.current = controller;
    setError(undefined);
    setReceived(0);
    try {
      const content = await fetchCsv(query, controller.signal, setReceived);
      const name = csvName([device.id], Date.now());
      saveFile(name, content);
      showToast(t('data.done', { name, size: sizeText(content.size, language.value) }));
    } catch (failure) {
      if (!controller.signal.aborted) setError(errorSentence(failure, t));
    } finally {
      setReceived(undefined);
    }
  }

  if (received === undefined) {
    return (
      <div class="stack-tight">
        <button
          type="button"
          class="button button-main tiles-add"
          disabled={isOff}
          onClick={() => void save()}
        >
          <Icon name="download" />
          {t('data.download')}
        </button>
        <FormError text={error} />
      </div>
    );
  }
  return (
    <div class="row" role="status">
      <progress value={received} max={Math.max(bytes, received)} />
      <span>{t('data.downloading', { size: sizeText(received, language.value) })}</span>
      <button type="button" class="button" onClick={() => abort.current?.abort()}>
        {t('data.stop')}
      </button>
    </div>
  );
}

async function fetchCsv(
  query: Query,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<Blob> {
  const response = await api.request({
    path: '/sensors_data',
    query: { ...query, format: 'csv', limit: rowsMax },
    signal,
  });
  const reader = response.body?.getReader();
  if (reader === undefined) return response.blob();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(pieces, { type: 'text/csv' });
    pieces.push(value);
    bytes += value.length;
    onBytes(bytes);
  }
}
