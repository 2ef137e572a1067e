import { ApiError } from '../../api/api-error.ts';
import type { ApiClient } from '../../api/client.ts';
import { parseExact } from '../../api/exact-json.ts';
import { apiPaths } from '../../api/paths.ts';
import type { Datapoint } from '../../api/types.ts';
import type { Receipt, UploadRow } from './csv-rows.ts';

/** As many as a page has. */
const pageMax = 5_000;
/** As many datapoints as a download has. */
const pagesMax = 200;

interface Span {
  readonly device: string;
  readonly sensor: string;
  from: number;
  to: number;
}

/**
 * The rows of a download that are news: a datapoint without a time of measurement comes back with
 * that of its arrival, by which the service would take it for another one.
 */
export async function notStored(
  api: Pick<ApiClient, 'getJson'>,
  rows: readonly UploadRow[],
): Promise<readonly UploadRow[]> {
  const spans = new Map<string, Span>();
  for (const row of rows) {
    if (!('json' in row) || row.receipt === undefined) continue;
    const { device, sensor, at } = row.receipt;
    const span = spans.get(nameOf(row.receipt)) ?? { device, sensor, from: at, to: at };
    span.from = Math.min(span.from, at);
    span.to = Math.max(span.to, at);
    spans.set(nameOf(row.receipt), span);
  }
  const stored = new Set<string>();
  for (const span of spans.values()) await readUntimed(api, span, stored);
  return rows.filter(
    (row) =>
      !('json' in row) ||
      row.receipt === undefined ||
      !stored.has(keyOf(row.receipt, parseExact(row.receipt.value))),
  );
}

const nameOf = ({ device, sensor }: Pick<Receipt, 'device' | 'sensor'>): string =>
  `${device}/${sensor}`;

const keyOf = (of: Pick<Receipt, 'device' | 'sensor' | 'at'>, value: unknown): string =>
  `${nameOf(of)} ${of.at} ${JSON.stringify(value)}`;

/** Puts down what is stored of a sensor without a time of measurement. */
async function readUntimed(
  api: Pick<ApiClient, 'getJson'>,
  { device, sensor, from, to }: Span,
  stored: Set<string>,
): Promise<void> {
  const path = `${apiPaths.sensor(device, sensor)}/values`;
  const range = { dateFrom: new Date(from).toISOString(), dateTo: new Date(to).toISOString() };
  for (let page = 0; page < pagesMax; page += 1) {
    const query = { ...range, offset: page * pageMax, limit: pageMax, calibrated: 'false' };
    let found: readonly Datapoint[];
    try {
      found = await api.getJson({ path, query });
    } catch (error) {
      // What may not be seen, or is not there: the upload says it of each row.
      if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return;
      throw error;
    }
    for (const { timestamp, date_received = '', value } of found) {
      if (timestamp !== undefined) continue;
      stored.add(keyOf({ device, sensor, at: Date.parse(date_received) }, value));
    }
    if (found.length < pageMax) return;
  }
}
