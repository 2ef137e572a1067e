import Type, { type Static } from 'typebox';
import type { Datapoint, SensorRef } from '../../domain/datapoints/datapoint.ts';
import type { HistoryQuery, ReadHistory } from '../../domain/datapoints/history.ts';
import type { Ingest, NewDatapoint } from '../../domain/datapoints/ingest.ts';
import type { Summaries } from '../../domain/datapoints/summaries.ts';
import { limits } from '../../domain/limits.ts';
import {
  csvHeaderWithoutIds,
  csvRow,
  csvRowWithoutIds,
  longCsvRow,
  longCsvRowWithoutIds,
} from '../../wire/csv.ts';
import { readCsvPush } from '../../wire/csv-datapoints.ts';
import {
  createDatapointWriter,
  createLongDatapointWriter,
  DatapointMessage,
  PushMessage,
  readDatapoints,
  readInstant,
} from '../../wire/datapoint.ts';
import { createCsvRows, createJsonRows } from '../../wire/datapoint-rows.ts';
import type { Spelling } from '../../wire/spelling.ts';
import { BucketMessage, readSummary, summaryParameters } from '../../wire/summary.ts';
import { done } from '../answer.ts';
import type { PushBody } from '../body.ts';
import type { TakeLargePush } from '../large-push.ts';
import { defineRoute, type Route } from '../route.ts';
import { asSent, pushBody } from '../route-body.ts';
import {
  answerWith,
  answerWithRows,
  csvFormat,
  type Format,
  jsonFormat,
  wantsCsv,
} from './datapoint-answer.ts';
import { deviceIdOf } from './devices.ts';
import { sensorIdOf } from './sensors.ts';
import { answerSummary } from './summary-answer.ts';

const tag = 'Datapoints';

const date = { format: 'date-time' } as const;

const pageMax = limits.datapointsPageMax;

export const DatapointsQuery = Type.Object({
  lastN: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: pageMax,
      description: 'The last N, newest first; limit and offset page within them.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: pageMax, default: 20 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
  sort: Type.Optional(
    Type.Unsafe<'asc' | 'dsc'>({
      type: 'string',
      enum: ['asc', 'dsc'],
      default: 'asc',
      description: 'By timestamp; by date_received where there is none.',
    }),
  ),
  dateFrom: Type.Optional(Type.String({ ...date, description: 'Earliest, included.' })),
  date_from: Type.Optional(Type.String({ ...date, description: 'Another spelling.' })),
  dateTo: Type.Optional(Type.String({ ...date, description: 'Latest, included.' })),
  date_to: Type.Optional(Type.String({ ...date, description: 'Another spelling.' })),
  calibrated: Type.Optional(
    Type.Boolean({ default: true, description: 'false: raw values, without calibration.' }),
  ),
  raw: Type.Optional(
    Type.Boolean({
      description:
        'true: what was pushed, without corrections and, unless asked for, without calibration.',
    }),
  ),
  format: Type.Optional(Type.Unsafe<'json' | 'csv'>({ type: 'string', enum: ['json', 'csv'] })),
});

const SummedUpQuery = Type.Object({ ...DatapointsQuery.properties, ...summaryParameters });

/** Pushing and reading datapoints; `value` and `values` are one path [contract 6]. */
export function datapointRoutes(
  ingest: Ingest,
  readHistory: ReadHistory,
  summaries: Summaries,
  takeLarge: TakeLargePush,
): readonly Route[] {
  return ['value', 'values'].flatMap((word) => [
    pushRoute(`/devices/:device_id/sensors/:sensor_id/${word}`, ingest, takeLarge),
    readRoute(`/devices/:device_id/sensors/:sensor_id/${word}`, readHistory, summaries),
  ]);
}

/** How the datapoints of one sensor are written. */
function formatOf(sensor: SensorRef, isCsv: boolean, spelling: Spelling): Format<Datapoint> {
  if (!isCsv) {
    return {
      ...jsonFormat,
      item: createDatapointWriter(sensor, spelling),
      long: createLongDatapointWriter(sensor, spelling),
    };
  }
  const format = csvFormat(spelling);
  if (!spelling.hasIdsInCsv) {
    const head = csvHeaderWithoutIds;
    return { ...format, head, item: csvRowWithoutIds, long: longCsvRowWithoutIds };
  }
  return {
    ...format,
    item: (datapoint) => csvRow({ ...sensor, datapoint }),
    long: (datapoint) => longCsvRow({ ...sensor, datapoint }),
  };
}

const sensorOf = (params: Readonly<Record<string, string>>): SensorRef => ({
  deviceId: deviceIdOf(params),
  sensorId: sensorIdOf(params),
});

function pushRoute(path: string, ingest: Ingest, takeLarge: TakeLargePush): Route {
  return defineRoute({
    method: 'POST',
    path,
    tag,
    summary: 'Push one datapoint, an array of them, a bare value, or CSV',
    body: pushBody(PushMessage, asSent, { bytesMax: limits.valuesBodyBytesMax }),
    answer: { status: 204, description: 'Stored: written and synced to disk.' },
    isHot: true,
    errors: [
      'invalid',
      'unauthenticated',
      'forbidden',
      'not_found',
      'too_large',
      'unsupported_media_type',
      'unavailable',
    ],
    handle: async ({ actor, params, body, spelling }) => {
      const sensor = sensorOf(params);
      if (body.kind === 'large') {
        const push = { body: body.body, actor, sensor, spelling };
        await takeLarge(push, (datapoints) => ingest(actor, sensor, datapoints));
        return done;
      }
      await ingest(actor, sensor, datapointsOf(body, sensor, spelling));
      return done;
    },
  });
}

/** The datapoints of a push that is read in one go. Throws DomainError invalid. */
export function datapointsOf(
  body: Exclude<PushBody, { readonly kind: 'large' }>,
  sensor: SensorRef,
  spelling: Spelling,
): readonly NewDatapoint[] {
  if (body.kind === 'plain') return [body.datapoint];
  return body.kind === 'csv'
    ? readCsvPush(body.text, sensor, spelling)
    : readDatapoints(body.value);
}

function readRoute(path: string, readHistory: ReadHistory, summaries: Summaries): Route {
  return defineRoute({
    method: 'GET',
    path,
    tag,
    summary: 'Read datapoints, aggregates of them, or as many as a plot needs',
    query: SummedUpQuery,
    answer: {
      status: 200,
      description:
        'Datapoints; X-Total-Count has the number of all in the range, X-Summarised-Before the ' +
        'time before which retention took datapoints: hours stand for them in aggregates.',
      content: {
        'application/json': Type.Array(Type.Union([DatapointMessage, BucketMessage])),
        'text/csv': Type.String({ description: 'With a header line, RFC 4180.' }),
      },
    },
    errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
    handle: async ({ actor, params, query, accept, spelling }) => {
      const sensor = sensorOf(params);
      const page = historyQuery(query);
      const isCsv = wantsCsv(query.format, accept);
      const format = formatOf(sensor, isCsv, spelling);
      const summary = readSummary(query);
      if (summary === undefined) {
        const history = await readHistory(actor, sensor, page);
        // What was pushed names its corrections, which columns do not have.
        const isWhole = page.limit <= limits.datapointsPerStep || page.isRaw === true;
        if (isWhole) return answerWith(history, page, format);
        const rows = isCsv ? createCsvRows(sensor, spelling) : createJsonRows(sensor, spelling);
        return answerWithRows(history, format, rows);
      }
      const { limit } = query;
      return answerSummary(summaries, {
        ...{ actor, query: page, limit, summary, isCsv, isOfOneSensor: true, spelling },
        selection: { deviceIds: [sensor.deviceId], sensorIds: [sensor.sensorId] },
        format: {
          ...format,
          item: ({ datapoint }) => format.item(datapoint),
          long: ({ datapoint }) => format.long?.(datapoint),
        },
      });
    },
  });
}

/** What is asked of the history, by the parameters that all reads share. */
export function historyQuery(query: Static<typeof DatapointsQuery>): HistoryQuery {
  const from = query.dateFrom ?? query.date_from;
  const to = query.dateTo ?? query.date_to;
  const isDescending = query.sort === undefined ? query.lastN !== undefined : query.sort === 'dsc';
  return {
    order: isDescending ? 'desc' : 'asc',
    skip: query.offset ?? 0,
    limit: query.limit ?? query.lastN ?? limits.datapointsPageDefault,
    isCalibrated: query.calibrated ?? query.raw !== true,
    ...(query.raw === true && { isRaw: true }),
    ...(query.lastN !== undefined && { lastN: query.lastN }),
    ...(from !== undefined && { from: readInstant(from, 'dateFrom') }),
    ...(to !== undefined && { to: readInstant(to, 'dateTo') }),
  };
}
