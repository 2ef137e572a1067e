import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { errorSentence } from '../../api/error-sentence.ts';
import type { Device } from '../../api/types.ts';
import { describeZone, usableZone } from '../../charts/zone.ts';
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
import { createCsvTable, type TableForm } from './csv-table.ts';

/** As many datapoints as one read answers [contract 6]. */
const rowsMax = 1_000_000;
/** Value, two times and punctuation of a usual row. */
const rowBytes = 62;

/** Chooses sensors and a range, says how much that is, and saves it. */
export function CsvDownload({ device }: { readonly device: Device }): JSX.Element {
  const [chosen, setChosen] = useState<readonly string[]>(() => device.sensors.map(({ id }) => id));
  const [range, setRange] = useState<RangeName>('month');
  const [isRaw, setRaw] = useState(false);
  const [isWide, setWide] = useState(false);
  const [isLocal, setLocal] = useState(false);
  const [isSemicolon, setSemicolon] = useState(false);
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
  const sensors = chosen.map((sensor) => `${device.id}/${sensor}`);
  const form: TableForm = { isWide, sensors, isSemicolon, ...(isLocal && { zone }) };
  const count = useRowCount(query, chosen.length > 0);
  const rows = count.value;
  const isOff = chosen.length === 0 || rows === 0 || (rows ?? 0) > rowsMax;
  const bytes = (rows ?? 0) * (rowBytes + device.id.length + 8);
  return (
    <div class="stack">
      <SensorChoice device={device} chosen={chosen} onChosen={setChosen} />
      <fieldset class="fieldset stack-tight">
        <legend>{t('data.range')}</legend>
        <div class="segments segments-grid">
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
          {t(isLocal ? 'data.localNote' : 'data.utcNote', { zone })}
        </p>
      </fieldset>
      <div class="choices">
        <Choice isChosen={isWide} onChosen={setWide} label={t('data.wide')} />
        <Choice isChosen={isLocal} onChosen={setLocal} label={t('data.local', { zone })} />
        <Choice isChosen={isSemicolon} onChosen={setSemicolon} label={t('data.semicolon')} />
        {device.sensors.some(({ calib }) => calib !== undefined) && (
          <Choice isChosen={isRaw} onChosen={setRaw} label={t('data.raw')} />
        )}
      </div>
      <Amount sensors={chosen.length} count={count} bytes={bytes} />
      <SaveButton {...{ device, query, bytes, isOff, form }} />
    </div>
  );
}

function Choice(props: {
  readonly isChosen: boolean;
  readonly onChosen: (isChosen: boolean) => void;
  readonly label: string;
}): JSX.Element {
  const { isChosen, onChosen, label } = props;
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={isChosen}
        onChange={(event) => onChosen(event.currentTarget.checked)}
      />
      {label}
    </label>
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
          <Choice
            isChosen={chosen.length === all.length}
            onChosen={(isChosen) => onChosen(isChosen ? all : [])}
            label={t('data.allSensors')}
          />
        )}
        {device.sensors.map((sensor) => (
          <Choice
            key={sensor.id}
            isChosen={chosen.includes(sensor.id)}
            onChosen={(isChosen) =>
              onChosen(all.filter((id) => (id === sensor.id ? isChosen : chosen.includes(id))))
            }
            label={sensorName(sensor)}
          />
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
  readonly form: TableForm;
}): JSX.Element {
  const { device, query, bytes, isOff, form } = props;
  const [received, setReceived] = useState<number>();
  const [error, setError] = useState<string>();
  const abort = useRef<AbortController>(undefined);

  async function save(): Promise<void> {
    const controller = new AbortController();
    abort.current = controller;
    setError(undefined);
    setReceived(0);
    try {
      const content = await fetchCsv({ query, form }, controller.signal, setReceived);
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

/** The file with a byte order mark, by which spreadsheets tell UTF-8. */
async function fetchCsv(
  { query, form }: { readonly query: Query; readonly form: TableForm },
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<Blob> {
  const response = await api.request({
    path: '/sensors_data',
    query: { ...query, format: 'csv' },
    signal,
  });
  const reader = response.body?.getReader();
  const pieces = ['\u{feff}'];
  const decoder = new TextDecoder();
  const isAsSent = !form.isWide && form.zone === undefined && form.isSemicolon !== true;
  const table = isAsSent ? undefined : createCsvTable(form);
  const put = (text: string) => pieces.push(table === undefined ? text : table.push(text));
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) {
      pieces.push(table?.end() ?? '');
      return new Blob(pieces, { type: 'text/csv' });
    }
    put(decoder.decode(value, { stream: true }));
    bytes += value.length;
    onBytes(bytes);
  }
}
