import Type, { type Static } from 'typebox';
import type { SensorRef } from '../../domain/datapoints/datapoint.ts';
import type { HistoryQuery } from '../../domain/datapoints/history.ts';
import type { BulkIngest } from '../../domain/datapoints/ingest-many.ts';
import type { RefusedElements } from '../../domain/datapoints/refusal-book.ts';
import { DomainError, invalid } from '../../domain/errors.ts';
import { parseDeviceId, parseSensorId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { type Place, readCursor, writeCursor } from '../../lib/page-cursor.ts';
import { defined, ifDefined } from '../../lib/record.ts';
import { BulkMessage, BulkReportMessage, bulkReportToWire } from '../../wire/bulk.ts';
import { type CsvPushChoices, readCsvPush } from '../../wire/csv-datapoints.ts';
import {
  DatapointMessage,
  type PushedDatapoints,
  PushMessage,
  readDatapoints,
  readInstant,
  readTimeZone,
} from '../../wire/datapoint.ts';
import { Flag, OneOf, Plain } from '../../wire/fields.ts';
import { BucketMessage, readSummary, summaryParameters } from '../../wire/summary.ts';
import { done, type EmptyAnswer, json } from '../answer.ts';
import { asSent, type PushBody, pushBody, streamBody } from '../body.ts';
import {
  type BodySplitter,
  BrokenBodyError,
  createArraySplitter,
  createLineSplitter,
} from '../body-elements.ts';
import { createBulkElementReader, feedBulk, isEmptyLine } from '../bulk-feed.ts';
import { EdgeError, reworded } from '../errors.ts';
import { pathOf } from '../refused-pushes.ts';
import { messageAnswer, type Params, type Route, type RouteRequest, routesOf } from '../route.ts';
import { answerSummary, answerWith, rowsFormat, wantsCsv } from './datapoint-answer.ts';
import type { Services } from './services.ts';

const route = routesOf('Datapoints');

/** The sensor that a path names. */
export const sensorOf = (params: Params): SensorRef => ({
  deviceId: parseDeviceId(params['device_id']),
  sensorId: parseSensorId(params['sensor_id']),
});

/** Parameters of a range; `more` is said of each. */
export const rangeParameters = (more: { readonly minLength?: number } = {}) => {
  const date = (description: string) =>
    Type.Optional(Type.String({ format: 'date-time', ...more, description }));
  return {
    ...{ dateFrom: date('Earliest, included.'), date_from: date('Another spelling.') },
    ...{ dateTo: date('Latest, included.'), date_to: date('Another spelling.') },
  };
};

/** Reads the range from parameters of either spelling. */
export function rangeOf(
  query: {
    readonly [Name in keyof ReturnType<typeof rangeParameters>]?: string;
  },
) {
  const from = query.dateFrom ?? query.date_from;
  const to = query.dateTo ?? query.date_to;
  return {
    from: ifDefined(from, (from) => readInstant(from, 'dateFrom')),
    to: ifDefined(to, (to) => readInstant(to, 'dateTo')),
  };
}

const pageMax = limits.datapointsPageMax;

export const DatapointsQuery = Type.Object({
  lastN: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: pageMax,
      description: 'The last N, newest first; limit and offset page within them.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      ...{ minimum: 0, maximum: pageMax, default: 20 },
      description: 'CSV without a limit is the whole range.',
    }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
  sort: Type.Optional(
    OneOf(['asc', 'dsc'], 'By timestamp; by date_received where there is none.', 'asc'),
  ),
  ...rangeParameters(),
  calibrated: Type.Optional(Flag('false: raw values, without calibration.', true)),
  raw: Type.Optional(
    Flag('true: what was pushed, without corrections and, unless asked for, without calibration.'),
  ),
  format: Type.Optional(Type.Unsafe<'json' | 'csv'>({ type: 'string', enum: ['json', 'csv'] })),
});

const SummedUpQuery = Type.Object({
  ...DatapointsQuery.properties,
  ...summaryParameters,
  after: Type.Optional(
    Type.String({
      minLength: 0,
      description: 'Pages in the order of time: empty at first, then what X-After says.',
    }),
  ),
});

const PushQuery = Type.Object({
  timezone: Type.Optional(
    Plain('The clocks of times without an offset in CSV, such as Africa/Nairobi; else UTC.'),
  ),
});

/** Pushing and reading datapoints; `value` and `values` are one path [contract 6]. */
export function datapointRoutes(services: Services): readonly Route[] {
  return ['value', 'values'].flatMap((word) => {
    const path = `/devices/:device_id/sensors/:sensor_id/${word}`;
    return [pushRoute(path, services), readRoute(path, services)];
  });
}

function pushRoute(path: string, services: Services): Route {
  const { ingest } = services;
  return route.post(path, {
    summary: 'Push one datapoint, an array of them, a bare value, or CSV',
    query: PushQuery,
    body: pushBody(PushMessage, asSent, { bytesMax: limits.valuesBodyBytesMax }),
    answer: {
      status: 204,
      description:
        'Stored: written and synced to disk. Of an array, X-Refused has how many elements were ' +
        'refused; the refusals of the device say which, and why.',
    },
    isHot: true,
    handle: (call) => {
      const { actor, params, body } = call;
      // The usual push of devices; a closure here would cost each of them its memory.
      if (body.kind !== 'plain') return pushMany(services, call, body);
      return ingest(actor, sensorOf(params), [body.datapoint]).then(answerDone);
    },
  });
}

const answerDone = () => done;

/** Stores an array, CSV or a large body; answers how many of its elements were refused. */
async function pushMany(
  { ingest, takeLargePush, refusedPushes }: Services,
  call: RouteRequest<Static<typeof PushQuery>>,
  body: Exclude<PushBody, { readonly kind: 'plain' }>,
): Promise<EmptyAnswer> {
  const { actor, params, query, spelling, url } = call;
  const sensor = sensorOf(params);
  const zone = query.timezone === undefined ? undefined : readTimeZone(query.timezone);
  const csv = { names: spelling, zone };
  let refused: RefusedElements | undefined;
  const take = (pushed: PushedDatapoints): Promise<void> => {
    refused = pushed.refused;
    return ingest(actor, sensor, pushed.datapoints, undefined, refused);
  };
  if (body.kind === 'large') await takeLargePush({ body: body.body, actor, sensor, csv }, take);
  else await take(datapointsOf(body, sensor, csv));
  if (refused === undefined || refused.count === 0) return done;
  const path = pathOf(url);
  const about = { via: 'http', code: 'invalid', actor, ...sensor, path, refused } as const;
  void refusedPushes.note(about);
  const exposed = { 'access-control-expose-headers': 'X-Refused' };
  return { ...done, headers: { 'x-refused': String(refused.count), ...exposed } };
}

/** The datapoints of a push that is read in one go. Throws DomainError invalid. */
export function datapointsOf(
  body: Exclude<PushBody, { readonly kind: 'large' }>,
  sensor: SensorRef,
  csv: CsvPushChoices,
): PushedDatapoints {
  if (body.kind === 'plain') return { datapoints: [body.datapoint] };
  return body.kind === 'csv'
    ? { datapoints: readCsvPush(body.bytes, sensor, csv) }
    : readDatapoints(body.value);
}

/** How reads of datapoints are answered; `more`: what is to be said of one beside. */
export const readAnswer = (more = '') =>
  ({
    status: 200,
    description:
      'Datapoints; X-Total-Count has the number of all in the range, X-Summarised-Before the ' +
      `time before which retention took datapoints: hours stand for them in aggregates.${more}`,
    content: {
      'application/json': Type.Array(Type.Union([DatapointMessage, BucketMessage])),
      'text/csv': csvText,
    },
  }) as const;

export const csvText = Plain('With a header line, RFC 4180.');

function readRoute(path: string, { readHistory, readAfter, summaries }: Services): Route {
  return route.get(path, {
    summary: 'Read datapoints, aggregates of them, or as many as a plot needs',
    query: SummedUpQuery,
    answer: readAnswer(' With after, X-After is where the next page begins; absent at the end.'),
    handle: async ({ actor, params, query, accept, spelling }) => {
      const sensor = sensorOf(params);
      const isCsv = wantsCsv(query.format, accept);
      const page = historyQuery(query, isCsv);
      const format = rowsFormat(isCsv, spelling);
      const summary = readSummary(query);
      if (query.after !== undefined) {
        const place = readPlace(query, sensor);
        const { next, ...history } = await readAfter(actor, sensor, page, place);
        const headers = next && { 'x-after': writeCursor(next, subjectOf(sensor)) };
        const limit = Math.min(page.limit, limits.datapointsPerStep);
        return answerWith(history, { limit }, format, headers && { headers });
      }
      if (summary === undefined) {
        return answerWith(await readHistory(actor, sensor, page), page, format);
      }
      const { limit } = query;
      return answerSummary(summaries, {
        ...{ actor, query: page, limit, summary, isCsv, isOfOneSensor: true, spelling },
        selection: { deviceIds: [sensor.deviceId], sensorIds: [sensor.sensorId] },
        format,
      });
    },
  });
}

const subjectOf = ({ deviceId, sensorId }: SensorRef): string => `${deviceId}/${sensorId}`;

/** Where a page begins; undefined: it is the first one. Throws DomainError invalid. */
function readPlace(query: Static<typeof SummedUpQuery>, sensor: SensorRef): Place | undefined {
  const { after = '', sort, limit, lastN, offset, aggregate, points } = query;
  const isOrdered = sort !== 'dsc' && lastN === undefined && offset === undefined && limit !== 0;
  if (!isOrdered || aggregate !== undefined || points !== undefined) {
    throw invalid(
      'after reads all datapoints in the order of time: leave out sort=dsc, lastN, offset, ' +
        'aggregate, points and limit=0',
    );
  }
  const place = after === '' ? undefined : readCursor(after, subjectOf(sensor));
  if (after === '' || place !== undefined) return place;
  throw invalid('after must be empty, or what X-After said of this sensor');
}

/** Reads the query of a history from the parameters that all reads have. */
export function historyQuery(query: Static<typeof DatapointsQuery>, isCsv = false): HistoryQuery {
  // A file is the whole range [contract 15].
  const unlimited = isCsv ? Number.MAX_SAFE_INTEGER : limits.datapointsPageDefault;
  const isDescending = query.sort === undefined ? query.lastN !== undefined : query.sort === 'dsc';
  return defined({
    order: isDescending ? 'desc' : 'asc',
    skip: query.offset ?? 0,
    limit: query.limit ?? query.lastN ?? unlimited,
    isCalibrated: query.calibrated ?? query.raw !== true,
    ...(query.raw === true && { isRaw: true }),
    lastN: query.lastN,
    ...rangeOf(query),
  });
}

const ImportQuery = Type.Object({
  import: Type.Optional(
    Flag('true: what is pushed is from a file or another service; no rule looks at it.', false),
  ),
});

/** Pushing to many sensors of many devices in one request [contract 6]. */
export function bulkPushRoute({ ingestMany }: Services): readonly Route[] {
  const push = route.post('/sensors_data', {
    summary: 'Push datapoints of many sensors: a JSON array, or one JSON object per line',
    query: ImportQuery,
    body: streamBody(BulkMessage, asSent),
    answer: messageAnswer(
      'What is stored is on disk; each refused line tells why.',
      BulkReportMessage,
    ),
    errors: ['invalid', 'unauthenticated', 'unsupported_media_type'],
    handle: async ({ actor, body, query, spelling, url }) => {
      const splitter = splitterFor(body.contentType);
      const read = createBulkElementReader(spelling);
      const bulk = ingestMany(actor, { isImport: query.import === true, path: pathOf(url) });
      try {
        await feedBulk({
          ...{ pieces: body.pieces, splitter },
          read: (element, line, step) => {
            if (!splitter.passesEmpty || !isEmptyLine(element)) read(element, line, step);
          },
          handOver: (step) => bulk.add(step),
          work: bulk.work,
        });
        return json(bulkReportToWire(await bulk.finish()));
      } catch (reason) {
        throw await explained(reason, bulk);
      }
    },
  });
  return [push];
}

const lineTypes: readonly string[] = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
];

function splitterFor(contentType = 'application/json'): BodySplitter {
  const [type = ''] = contentType.toLowerCase().split(';');
  const name = type.trim();
  if (name === 'application/json') return createArraySplitter(limits.bulkLineBytesMax);
  if (lineTypes.includes(name)) return createLineSplitter(limits.bulkLineBytesMax);
  throw new EdgeError(
    'unsupported_media_type',
    `the content type ${name.slice(0, 60)} is not read here: send a JSON array as ` +
      'application/json, or one object per line as application/x-ndjson',
  );
}

/** The refusal of the whole request; lines before the failure stay stored, and are counted. */
async function explained(reason: unknown, bulk: BulkIngest): Promise<unknown> {
  if (
    reason instanceof BrokenBodyError ||
    (reason instanceof DomainError && reason.code === 'invalid')
  ) {
    await bulk.finish();
    return invalid(`${reason.message}${storedBefore(bulk)}`);
  }
  if (!(reason instanceof DomainError)) return reason;
  return reworded(reason, reason.message + storedBefore(bulk));
}

function storedBefore({ stored }: BulkIngest): string {
  return stored === 0 ? '; nothing is stored' : `; ${stored} lines before it are stored`;
}
