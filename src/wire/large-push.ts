import { type Actor, isImport } from '../domain/actor.ts';
import { payerOf } from '../domain/budgets/budget.ts';
import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import { NewColumns } from '../domain/datapoints/new-columns.ts';
import { valueTooLarge } from '../domain/devices/device.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { withoutPadding } from '../lib/bare-value.ts';
import { csvLimits } from '../lib/csv-reader.ts';
import { createBreather, runInSteps, yieldToEventLoop } from '../lib/event-loop.ts';
import { createSemaphore } from '../lib/scheduling/payer-queues.ts';
import { bytesWithoutPadding, readJson, readJsonOrText, readPayloadValue } from './bare-value.ts';
import { type CsvPushChoices, createCsvPush } from './csv-datapoints.ts';
import { type PushedDatapoints, readDatapoints } from './datapoint.ts';
import { isArrayOfObjects, readDatapointArray } from './datapoint-array.ts';

/** The body of a push that is too long to be read in one go. */
export interface LargeBody {
  readonly bytes: Buffer;
  /** The type that the request gives; none: it gives no type. */
  readonly type: 'json' | 'text' | 'csv' | 'none';
}

/** Takes large pushes in: a few at a time, round robin over payers, other work in between. */
export type TakeLargePush = (
  push: {
    readonly body: LargeBody;
    readonly actor: Actor;
    readonly sensor: SensorRef;
    readonly csv: CsvPushChoices;
  },
  ingest: (pushed: PushedDatapoints) => Promise<void>,
) => Promise<void>;

export function createTakeLargePush(options: {
  readonly valueBytesMax: number;
  readonly isUtf8: (bytes: Uint8Array) => boolean;
  /** How much is read before other work runs. */
  readonly sliceBytes?: number;
}): TakeLargePush {
  const { valueBytesMax, isUtf8, sliceBytes = limits.largePushSliceBytes } = options;
  // Read, a body takes up to ten times its length: the others wait as bytes.
  const semaphore = createSemaphore({ parallelMax: limits.largePushesAtOnce });
  return ({ body, actor, sensor, csv }, ingest) => {
    const { type } = body;
    const ingestCsv = async () => {
      const pieceBytes = Math.min(sliceBytes, csvLimits.csvSliceBytes);
      return ingest({ datapoints: await readCsv(body.bytes, { sensor, csv, pieceBytes }) });
    };
    // Read in pieces, as CSV has many rows, and no larger than bodies that are read at once.
    if (type === 'csv' && body.bytes.length <= limits.largePushBytesMin) return ingestCsv();
    return semaphore.run(payerOf(actor), async () => {
      // Else one would begin where another ends, and who connects would wait for all of them.
      await yieldToEventLoop();
      if (type === 'csv') return ingestCsv();
      const bytes = bytesWithoutPadding(body.bytes);
      const isArray = type !== 'text' && isArrayOfObjects(bytes);
      if (!isArray && !isUtf8(bytes)) throw invalid('the body is not valid UTF-8');
      // Escapes may take three times what they stand for.
      const elementBytesMax = isImport(actor)
        ? limits.valuesBodyBytesMax
        : 4 * valueBytesMax + limits.datapointBytesBesideValue;
      const tooLong = (where: string) => valueTooLarge(valueBytesMax, where);
      // Where values may be longer, reading one takes longer.
      const costMax = limits.jsonCostMax * Math.max(1, elementBytesMax / usualElementBytesMax);
      if (isArray) {
        const datapoints = new NewColumns();
        const rules = { isUtf8, sliceBytes, elementBytesMax, costMax, tooLong, datapoints };
        await ingest(await runInSteps(readDatapointArray(bytes, rules)));
      } else {
        if (bytes.length > elementBytesMax) throw tooLong('');
        const text = withoutPadding(bytes.toString());
        const read = type === 'json' ? readJsonOrText : readPayloadValue;
        const value = type === 'text' ? text : readJson(text, 'the body', read, costMax);
        await ingest(readDatapoints(value));
      }
    });
  };
}

/** Of values of 64 KiB: four times that, as escapes have it, and what stands beside. */
const usualElementBytesMax = 4 * 65_536 + limits.datapointBytesBesideValue;

async function readCsv(
  bytes: Buffer,
  options: {
    readonly sensor: SensorRef;
    readonly csv: CsvPushChoices;
    readonly pieceBytes: number;
  },
): Promise<NewColumns> {
  const { sensor, csv, pieceBytes } = options;
  const { find, push, end } = createCsvPush(sensor, csv);
  const breathe = createBreather();
  for (const take of [find, push]) {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      take(bytes.subarray(at, at + pieceBytes));
      await breathe();
    }
  }
  return end();
}
