import Type from 'typebox';
import { type Actor, onlyDeviceOf } from '../../domain/actor.ts';
import { BulkStep } from '../../domain/datapoints/bulk-step.ts';
import { datapointsIn } from '../../domain/datapoints/datapoint-columns.ts';
import type { HistoryQuery, ReadHistory } from '../../domain/datapoints/history.ts';
import { DomainError, invalid, notFound } from '../../domain/errors.ts';
import { type DeviceId, parseDeviceId, parseSensorId } from '../../domain/ids.ts';
import type { Instant } from '../../lib/clock.ts';
import { defined } from '../../lib/record.ts';
import { readLocalInstant } from '../../wire/datapoint.ts';
import {
  fieldNames,
  readBulkUpdate,
  readUpdate,
  type UpdateParameters,
  updateText,
  xmlType,
  zoneOf,
} from '../../wire/thing-speak.ts';
import { createFeed, type FeedShape, feedText, lastText } from '../../wire/thing-speak-feed.ts';
import { csvType, jsonType, type TextAnswer, text, textType, written } from '../answer.ts';
import { asSent, streamBody } from '../body.ts';
import type { StreamBody } from '../body-reader.ts';
import { pathOf } from '../refused-pushes.ts';
import { type Route, type RouteRequest, routesOf, usualErrors } from '../route.ts';
import { endpointLimits } from './endpoint-limits.ts';
import { withSensors } from './line-writes.ts';
import { gatheredBody, queryOf, senderOf, type ThingSpeakParts } from './thing-speak-routes.ts';

export interface ChannelParts extends ThingSpeakParts {
  readonly readHistory: ReadHistory;
}

const route = routesOf('Datapoints');

const common = {
  answer: {
    status: 200,
    description: 'As ThingSpeak answers.',
    content: { 'text/plain': Type.String() },
  },
  errors: usualErrors,
} as const;

const root = '/channels/:channel_id';

/** Channels of ThingSpeak: a device whose sensors field1 to field8 are filled and read. */
export function channelRoutes(parts: ChannelParts): readonly Route[] {
  const reads = ['/:what', '/:what/:part', '/:what/:part/:last'].map((path) =>
    route.get(root + path, {
      ...common,
      summary: 'Read fields as clients of ThingSpeak do',
      handle: (request) => readChannel(parts, request),
    }),
  );
  const bulk = route.post(`${root}/:what`, {
    ...common,
    summary: 'Push many updates as clients of ThingSpeak do',
    body: streamBody(Type.Unknown(), asSent),
    handle: (request) => bulkUpdate(parts, request),
  });
  return [...reads, bulk];
}

/** The device that the key is for, as a channel's key is; else the one that is named. */
const channelOf = (actor: Actor, { channel_id }: RouteRequest['params']): DeviceId =>
  onlyDeviceOf(actor) ?? parseDeviceId(channel_id);

const typeOf: Readonly<Record<FeedShape, string>> = {
  json: jsonType,
  csv: csvType,
  xml: xmlType,
  txt: textType,
};

async function readChannel(parts: ChannelParts, request: RouteRequest) {
  const { what = '', part, last } = request.params;
  const asked = [what, part, last].filter((word) => word !== undefined).join('/');
  const found = /^(?:feeds?|fields?\/([1-8]))(\/last)?(?:\.(json|csv|xml|txt))?$/.exec(asked);
  if (found === null) {
    throw notFound('of a channel there are feeds, fields/1 to fields/8, and the last of these');
  }
  const [, number, hasLast, ending] = found;
  const isLast = hasLast !== undefined;
  const shape = (ending ?? (isLast && number !== undefined ? 'txt' : 'json')) as FeedShape;
  const parameters = queryOf(request.url);
  const actor = await senderOf(parts, request, parameters);
  const deviceId = channelOf(actor, request.params);
  const { zone, count, ...range } = rangeOf(parameters, parts.clock.now());
  const limit = isLast ? 1 : count;
  const wanted = number === undefined ? allFields(parameters) : [`field${number}`];
  const page = defined({ order: 'desc', skip: 0, limit, isCalibrated: true, ...range });
  const { feed, fields } = await gatherFeed(parts, actor, { deviceId, wanted, page });
  const head = { channelId: deviceId, fields, zone };
  const entries = feed.newest(limit);
  return isLast
    ? text(typeOf[shape], lastText(head, entries[0], shape))
    : written(typeOf[shape], feedText(head, entries, shape));
}

const allFields = (parameters: UpdateParameters): readonly string[] => [
  ...fieldNames,
  ...(parameters.get('status') === 'true' ? ['status'] : []),
];

/** The newest datapoints of those fields that the device has. Throws not_found when it has none. */
async function gatherFeed(
  { readHistory }: ChannelParts,
  actor: Actor,
  asked: {
    readonly deviceId: DeviceId;
    readonly wanted: readonly string[];
    readonly page: HistoryQuery;
  },
) {
  const { deviceId, wanted, page } = asked;
  const feed = createFeed();
  const fields: string[] = [];
  let missing: unknown;
  for (const field of wanted) {
    try {
      const sensor = { deviceId, sensorId: parseSensorId(field) };
      const history = await readHistory(actor, sensor, page);
      fields.push(field);
      for await (const step of history.steps) {
        for (const [, datapoint] of datapointsIn(step)) feed.add(field, datapoint);
      }
    } catch (reason) {
      if (!(reason instanceof DomainError) || reason.code !== 'not_found') throw reason;
      missing ??= reason;
    }
  }
  if (fields.length === 0) throw missing;
  return { feed, fields };
}

/** Parameters by which ThingSpeak would answer other values than those that are stored. */
const reckoned = ['average', 'median', 'sum', 'timescale', 'min', 'max'] as const;

/** Throws invalid for what is not computed here: stored values are no answer to it. */
function rangeOf(parameters: UpdateParameters, now: Instant) {
  const unknown = reckoned.find((name) => parameters.has(name));
  if (unknown) throw invalid(`${unknown} is not computed here: read aggregates of /api/v2`);
  const zone = zoneOf(parameters);
  const at = (field: string): Instant | undefined => {
    const given = parameters.get(field);
    return given === undefined ? undefined : readLocalInstant(given, field, zone);
  };
  const minutes =
    wholeNumber(parameters, 'minutes') ?? (wholeNumber(parameters, 'days') ?? 0) * 24 * 60;
  const from = at('start') ?? (minutes > 0 ? now - minutes * 60_000 : undefined);
  const to = at('end');
  const usual = from === undefined && to === undefined ? 100 : endpointLimits.feedEntriesMax;
  const count = Math.min(
    wholeNumber(parameters, 'results') ?? usual,
    endpointLimits.feedEntriesMax,
  );
  return { zone, from, to, count };
}

function wholeNumber(parameters: UpdateParameters, name: string): number | undefined {
  const given = parameters.get(name)?.trim();
  if (given === undefined) return undefined;
  if (/^\d{1,7}$/.test(given)) return Number(given);
  throw invalid(`${name} must be a whole number, got ${JSON.stringify(given.slice(0, 60))}`);
}

async function bulkUpdate(
  parts: ChannelParts,
  request: RouteRequest<unknown, StreamBody>,
): Promise<TextAnswer> {
  const kind = /^bulk_update\.(json|csv)$/.exec(request.params['what'] ?? '')?.[1];
  if (kind === undefined) throw notFound('push to bulk_update.json or bulk_update.csv');
  const bytes = await gatheredBody(request.body.pieces, endpointLimits.bulkUpdateBytesMax);
  const { parameters, updates, zone } = readBulkUpdate(bytes, kind === 'json', parts.clock.now());
  const actor = await senderOf(parts, request, new Map([...queryOf(request.url), ...parameters]));
  const deviceId = channelOf(actor, request.params);
  const bulk = parts.ingestMany(actor, { path: pathOf(request.url) });
  const maker = parts.missingSensors(actor, { makesDevices: false, sensorsMax: 10 });
  const turn = bulk.work.arrive();
  if (turn !== undefined) await turn;
  let step = new BulkStep();
  for (const [index, update] of updates.entries()) {
    putUpdate(step, { line: index + 1, deviceId, update, zone });
    if (step.count >= endpointLimits.updateLinesPerStep || index === updates.length - 1) {
      step.end();
      await bulk.add(await withSensors(step, maker, bulk.work.pace));
      step = new BulkStep();
    }
    if (bulk.work.pace.isOver()) await bulk.work.pace.rest();
  }
  const { stored, refused, refusedCount } = await bulk.finish();
  const [first] = refused;
  if (stored === 0 && first !== undefined) {
    const { code, message } = first.refusal;
    throw new DomainError(code, `update ${first.line}: ${message}; nothing is stored`);
  }
  const headers = refusedCount === 0 ? {} : { 'x-refused': String(refusedCount) };
  return { ...text(jsonType, '{"success":true}', headers), status: 202 };
}

/** The fields of one update; one that cannot be read is refused alone. */
function putUpdate(
  step: BulkStep,
  one: {
    readonly line: number;
    readonly deviceId: DeviceId;
    readonly update: UpdateParameters | DomainError;
    readonly zone: Parameters<typeof readUpdate>[1];
  },
): void {
  const { line, deviceId } = one;
  try {
    if (one.update instanceof DomainError) throw one.update;
    for (const [sensorId, field] of readUpdate(one.update, one.zone)) {
      const sensor = { deviceId, sensorId };
      if (field instanceof DomainError) step.put({ line, sensor, refusal: field });
      else step.put({ line, sensor, datapoint: field });
    }
  } catch (refusal) {
    if (!(refusal instanceof DomainError)) throw refusal;
    const sent = one.update instanceof DomainError ? '' : updateText(one.update);
    step.put({ line, refusal, sensor: { deviceId }, sent });
  }
}
