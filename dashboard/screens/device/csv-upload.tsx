import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { unnamedColumns } from '../../../src/lib/csv-datapoints.ts';
import { CsvError } from '../../../src/lib/csv-reader.ts';
import { errorSentence } from '../../api/error-sentence.ts';
import type { Device } from '../../api/types.ts';
import { isZone, usableZone } from '../../charts/zone.ts';
import { t } from '../../i18n/i18n.ts';
import { ofService } from '../../i18n/refusals.ts';
import { api } from '../../state/session.ts';
import { Field, SelectField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { sensorName } from '../../ui/value.tsx';
import { readCsvRows, type UploadRow } from './csv-rows.ts';
import { notStored } from './csv-stored.ts';
import { ZoneField } from './zone-field.tsx';

const rowsPerRequest = 5_000;
const shownRefusals = 5;

interface Refusal {
  readonly line: number;
  readonly description: string;
}

interface Outcome {
  readonly stored: number;
  readonly refusedCount: number;
  readonly refused: readonly Refusal[];
}

/** Sends the rows of a file in parts, and says which were refused. */
export function CsvUpload({ device }: { readonly device: Device }): JSX.Element {
  const [sensor, setSensor] = useState(device.sensors[0]?.id ?? '');
  const [zone, setZone] = useState(usableZone(device.timezone));
  const [progress, setProgress] = useState<{ readonly done: number; readonly count: number }>();
  const [outcome, setOutcome] = useState<Outcome>();
  const [error, setError] = useState<string>();
  const input = useRef<HTMLInputElement>(null);

  async function upload(event: Event): Promise<void> {
    event.preventDefault();
    const file = input.current?.files?.[0];
    if (file === undefined || progress !== undefined) return;
    setOutcome(undefined);
    setError(undefined);
    try {
      if (zone !== '' && !isZone(zone)) return setError(t('data.unknownZone'));
      const bytes = new Uint8Array(await file.arrayBuffer());
      const rows = readCsvRows(bytes, { device: device.id, sensor, zone });
      if (rows.length === 0) return setError(t('data.noRows'));
      setProgress({ done: 0, count: rows.length });
      const news = await notStored(api, rows);
      const known = rows.length - news.length;
      const sent = await sendRows(news, (done) => {
        setProgress({ done: known + done, count: rows.length });
      });
      setOutcome({ ...sent, stored: sent.stored + known });
    } catch (failure) {
      setError(faultSentence(failure));
    } finally {
      setProgress(undefined);
    }
  }

  return (
    <form class="form" onSubmit={upload} noValidate>
      <p class="quiet">{t('data.uploadText')}</p>
      <SelectField
        label={t('data.forSensor')}
        value={sensor}
        options={device.sensors.map((one) => ({ value: one.id, label: sensorName(one) }))}
        onValue={setSensor}
      />
      <ZoneField
        label={t('data.timesOf')}
        hint={t('data.timesHint')}
        value={zone}
        onValue={setZone}
      />
      <Field
        label={t('data.file')}
        control={(ids) => (
          <input {...ids} ref={input} class="input" type="file" accept=".csv,text/csv,text/plain" />
        )}
      />
      <FormError text={error} />
      {progress === undefined ? (
        <button type="submit" class="button tiles-add">
          {t('data.upload')}
        </button>
      ) : (
        <div class="row" role="status">
          <progress value={progress.done} max={progress.count} />
          {t('data.uploading', progress)}
        </div>
      )}
      {outcome !== undefined && <OutcomeText outcome={outcome} />}
    </form>
  );
}

function faultSentence(failure: unknown): string {
  if (!(failure instanceof CsvError)) return errorSentence(failure, t);
  const { line, problem } = failure;
  return problem === unnamedColumns
    ? t('data.columns')
    : t('data.badFile', { line, reason: problem });
}

function OutcomeText({ outcome }: { readonly outcome: Outcome }): JSX.Element {
  return (
    <div class="note stack-tight" role="status">
      <p>{t('data.uploaded', { count: outcome.stored })}</p>
      {outcome.refusedCount > 0 && (
        <>
          <p class="field-error">{t('data.refused', { count: outcome.refusedCount })}</p>
          <ul>
            {outcome.refused.map(({ line, description }) => (
              <li key={line}>{t('data.refusedLine', { line, reason: ofService(description) })}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

async function sendRows(
  rows: readonly UploadRow[],
  onDone: (done: number) => void,
): Promise<Outcome> {
  const unread = rows.flatMap((row) =>
    'refusal' in row ? { line: row.line, description: row.refusal } : [],
  );
  const sent = rows.flatMap((row) => ('refusal' in row ? [] : row));
  let outcome: Outcome = {
    ...{ stored: 0, refusedCount: unread.length },
    refused: unread.slice(0, shownRefusals),
  };
  for (let at = 0; at < sent.length; at += rowsPerRequest) {
    const part = sent.slice(at, at + rowsPerRequest);
    const body = part.map(({ json }) => json).join('\n');
    const response = await api.request({
      method: 'POST',
      path: '/sensors_data',
      query: { import: 'true' },
      body,
      type: 'application/x-ndjson',
    });
    const answer = (await response.json()) as {
      readonly stored: number;
      readonly refused: readonly Refusal[];
      readonly refused_count: number;
    };
    // Lines of the request become lines of the file.
    const refused = answer.refused.map(({ line, description }) => ({
      line: part[line - 1]?.line ?? line,
      description,
    }));
    outcome = {
      stored: outcome.stored + answer.stored,
      refusedCount: outcome.refusedCount + answer.refused_count,
      refused: [...outcome.refused, ...refused].slice(0, shownRefusals),
    };
    onDone(Math.min(sent.length, at + rowsPerRequest));
  }
  return outcome;
}
