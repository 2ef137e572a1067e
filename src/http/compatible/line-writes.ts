import type { Actor } from '../../domain/actor.ts';
import {
  type BulkRow,
  type BulkStep,
  bulkStepOf,
  rowsOf,
} from '../../domain/datapoints/bulk-step.ts';
import { excerptOf } from '../../domain/datapoints/ingest.ts';
import type { BulkIngest, BulkReport, IngestMany } from '../../domain/datapoints/ingest-many.ts';
import type { MissingSensors, SensorMaker, Unmade } from '../../domain/devices/missing-sensors.ts';
import { DomainError, invalid } from '../../domain/errors.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { createBreather } from '../../lib/event-loop.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { withoutStackTraces } from '../../lib/stackless.ts';
import { createLineByteReader } from '../../wire/line-bytes.ts';
import { datapointsOfPoint, type Precision, readLinePoint } from '../../wire/line-protocol.ts';
import { type BodyElement, textOfElement } from '../body-elements.ts';
import { feedBulk } from '../bulk-feed.ts';
import { reworded } from '../errors.ts';
import { endpointLimits } from './endpoint-limits.ts';
import { createPointSplitter } from './point-splitter.ts';

/** A body of line protocol, for the ingest path. */
export interface LineWrite {
  readonly actor: Actor;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** undefined: not given; auto: each time says by its size. */
  readonly precision: Precision | 'auto' | undefined;
  readonly path: string;
}

/**
 * Stores every line of the body that can be stored, and resolves when they are on disk. Throws
 * DomainError when any was refused, with the numbers of the first ones.
 */
export type WriteLines = (write: LineWrite) => Promise<void>;

export function createWriteLines(services: {
  readonly ingestMany: IngestMany;
  readonly missingSensors: MissingSensors;
}): WriteLines {
  return async (write) => {
    const bulk = services.ingestMany(write.actor, write);
    const readBytes = createLineByteReader(write.precision);
    const maker = services.missingSensors(write.actor, {
      makesDevices: true,
      sensorsMax: endpointLimits.sensorsMadeMax,
    });
    try {
      await feedBulk({
        pieces: write.pieces,
        splitter: createPointSplitter(limits.bulkLineBytesMax),
        read: (element, line, step) => {
          const isRead =
            'bytes' in element && readBytes(element.bytes, element.start, element.end, line, step);
          if (isRead) return;
          for (const one of linesOf(element, line, write.precision)) step.put(one);
        },
        handOver: async (step) => bulk.add(await withSensors(step, maker, bulk.work.pace)),
        work: bulk.work,
      });
    } catch (reason) {
      throw await explained(reason, bulk);
    }
    requireAllStored(await bulk.finish());
  };
}

/** Pieces of a body, once all lines can be read. Throws DomainError with the first that cannot. */
export async function readableLines(
  pieces: LineWrite['pieces'],
  precision: LineWrite['precision'],
): Promise<LineWrite['pieces']> {
  const kept: Uint8Array[] = [];
  const splitter = createPointSplitter(limits.bulkLineBytesMax);
  const breathe = createBreather();
  let line = 0;
  const check = async (elements: readonly BodyElement[]): Promise<void> => {
    for (const element of elements) {
      line += 1;
      for (const one of linesOf(element, line, precision)) {
        if ('refusal' in one) {
          throw invalid(`line ${line}: ${one.refusal.message}; nothing is stored`);
        }
      }
      if ('bytes' in element) line += element.feeds ?? 0;
      await breathe();
    }
  };
  for await (const piece of pieces) {
    kept.push(piece);
    await check(splitter.push(piece));
  }
  await check(splitter.end());
  return (async function* () {
    yield* kept;
  })();
}

const noLines: readonly BulkRow[] = [];

/** The datapoints of a line, or why it has none: that of thousands costs little. */
const linesOf = (element: BodyElement, line: number, precision: LineWrite['precision']) =>
  withoutStackTraces(() => readLine(element, line, precision));

function readLine(
  element: BodyElement,
  line: number,
  precision: LineWrite['precision'],
): readonly BulkRow[] {
  if ('bytes' in element && element.start === element.end) return noLines;
  const text = textOfLine(element);
  try {
    if (text === undefined) throw invalid(`a line may have ${limits.bulkLineBytesMax} bytes`);
    const point = readLinePoint(text);
    if (point === undefined) return [];
    return datapointsOfPoint(point, precision).map((datapoint) => ({ line, ...datapoint }));
  } catch (reason) {
    if (reason instanceof DomainError) {
      return [{ line, refusal: reason, ...(text !== undefined && { sent: text }) }];
    }
    throw reason;
  }
}

const windows1252 = new TextDecoder('windows-1252');

/** In UTF-8, or else in Windows-1252 as the text of a form; undefined: it is too long. */
function textOfLine(element: BodyElement): string | undefined {
  if ('problem' in element) return undefined;
  const text = textOfElement(element);
  if (typeof text === 'string') return text;
  return windows1252.decode(element.bytes.subarray(element.start, element.end));
}

/** The lines, those refused whose sensor is not there and cannot be made. */
export async function withSensors(
  step: BulkStep,
  maker: SensorMaker,
  pace: Pace,
): Promise<BulkStep> {
  const wanted = new Map<DeviceId, Set<SensorId>>();
  const ofOthers = step.others.flatMap((line) => ('refusal' in line ? [] : line.sensor));
  for (const { deviceId, sensorId } of [...step.sensors, ...ofOthers]) {
    const sensors = wanted.get(deviceId);
    if (sensors === undefined) wanted.set(deviceId, new Set([sensorId]));
    else sensors.add(sensorId);
  }
  const unmade = new Map<DeviceId, Unmade>();
  for (const [deviceId, sensorIds] of wanted) {
    // Device after device: each may be a commit, and their number is limited for the request.
    const left = await maker.makeOn(deviceId, sensorIds);
    if (left.size > 0) unmade.set(deviceId, left);
    if (pace.isOver()) await pace.rest();
  }
  if (unmade.size === 0) return step;
  const made = rowsOf(step).map((line): BulkRow => {
    if ('refusal' in line) return line;
    const refusal = unmade.get(line.sensor.deviceId)?.get(line.sensor.sensorId);
    if (refusal === undefined) return line;
    const sent = excerptOf(line.datapoint, refusal);
    return { line: line.line, sensor: line.sensor, refusal, sent };
  });
  return bulkStepOf(made);
}

/** Clients drop what is answered 400; they keep and repeat what is answered 403 or 507. */
function requireAllStored({ stored, refused, refusedCount }: BulkReport): void {
  if (refusedCount === 0) return;
  const told = new Set(refused.map(({ line, refusal }) => `line ${line}: ${refusal.message}`));
  const shown = [...told].slice(0, endpointLimits.linesToldMax).join('; ');
  const isForbidden = refused.every(({ refusal }) => refusal.code === 'forbidden');
  const isFull = refused.some(({ refusal }) => refusal.code === 'storage_full');
  const ofLines = stored === 0 && isForbidden ? 'forbidden' : 'invalid';
  const code = isFull ? 'storage_full' : ofLines;
  throw new DomainError(
    code,
    `partial write: ${shown}${told.size > endpointLimits.linesToldMax ? '; …' : ''} ` +
      `stored=${stored} dropped=${refusedCount}`,
  );
}

/** The refusal of the rest of a body; lines before it stay stored, and are counted. */
async function explained(reason: unknown, bulk: BulkIngest): Promise<unknown> {
  if (!(reason instanceof DomainError)) return reason;
  // A commit that failed fails here once more: nothing is left to wait for then.
  await bulk.finish().catch(() => undefined);
  return reworded(reason, `${reason.message} stored=${bulk.stored}`);
}
