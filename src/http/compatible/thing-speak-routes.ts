import Type from 'typebox';
import { type Actor, onlyDeviceOf } from '../../domain/actor.ts';
import { payerOf } from '../../domain/budgets/budget.ts';
import { bulkStepOf } from '../../domain/datapoints/bulk-step.ts';
import type { IngestMany } from '../../domain/datapoints/ingest-many.ts';
import type { NewDatapoint } from '../../domain/datapoints/new-columns.ts';
import type { RefusedPushes } from '../../domain/datapoints/refused-pushes.ts';
import type { MissingSensors } from '../../domain/devices/missing-sensors.ts';
import { DomainError, invalid } from '../../domain/errors.ts';
import { type DeviceId, parseDeviceId, type SensorId } from '../../domain/ids.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import { countFor } from '../../lib/connection-guard.ts';
import { gatherBytes } from '../../lib/gathered-bytes.ts';
import type { Wire } from '../../wire/fields.ts';
import {
  readForm,
  readUpdate,
  readUpdateBody,
  UpdateMessage,
  type UpdateParameters,
  updateText,
  updateToWire,
  updateToXml,
  xmlType,
} from '../../wire/thing-speak.ts';
import { type JsonAnswer, json, type TextAnswer, text, textType, unkept } from '../answer.ts';
import type { Authenticate } from '../authentication.ts';
import { asSent, streamBody } from '../body.ts';
import type { StreamBody } from '../body-reader.ts';
import { bounded } from '../content-encoding.ts';
import { EdgeError } from '../errors.ts';
import { pathOf } from '../refused-pushes.ts';
import { type Route, type RouteRequest, routesOf, usualErrors } from '../route.ts';
import { endpointLimits } from './endpoint-limits.ts';

export interface ThingSpeakParts {
  readonly authenticate: Authenticate;
  readonly ingestMany: IngestMany;
  readonly missingSensors: MissingSensors;
  readonly refusedPushes: Pick<RefusedPushes, 'note'>;
  readonly clock: Clock;
}

const route = routesOf('Datapoints');
const body = streamBody(Type.Unknown(), asSent);

/** Where sketches for ThingSpeak send their fields; `.json` answers with what was stored. */
export function thingSpeakRoutes(
  parts: ThingSpeakParts,
  paths: readonly string[],
): readonly Route[] {
  const common = {
    summary: 'Push up to eight fields as sketches for ThingSpeak do',
    answer: {
      status: 200,
      description: 'The number of the entry; of `.json` and `.xml` what was stored.',
      content: {
        'text/plain': Type.String(),
        'application/json': UpdateMessage,
        'application/xml': Type.String(),
      },
    },
    errors: [...usualErrors, 'too_large', 'storage_full'],
  } as const;
  return paths.flatMap((path) => [
    route.get(path, {
      ...{ ...common, isUnsafe: true },
      handle: (request) => update(parts, request, queryOf(request.url)),
    }),
    route.post(path, {
      ...{ ...common, body },
      handle: async (request) => {
        const ofAddress = queryOf(request.url);
        const sent = await readBody(request.body).catch(async (reason: unknown) => {
          const known = await knownOfAddress(parts, request, ofAddress);
          note(parts, reason, known, { request, parameters: new Map() });
          throw reason;
        });
        return update(parts, request, new Map([...ofAddress, ...sent]));
      },
    }),
  ]);
}

async function update(
  parts: ThingSpeakParts,
  request: Pick<RouteRequest, 'actor' | 'address' | 'headers' | 'raw' | 'url'>,
  parameters: UpdateParameters,
): Promise<TextAnswer | JsonAnswer<Wire<typeof UpdateMessage>>> {
  const now = parts.clock.now();
  let known = knownOf(undefined, parameters);
  let deviceId: DeviceId;
  let refusal: DomainError | undefined;
  try {
    const actor = await senderOf(parts, request, parameters);
    known = knownOf(actor, parameters);
    deviceId = deviceOf(actor, parameters);
    known = { ...known, deviceId };
    refusal = await store(parts, { actor, deviceId }, { request, parameters });
  } catch (reason) {
    note(parts, reason, known, { request, parameters });
    throw reason;
  }
  if (refusal !== undefined) throw refusal;
  const entry = { deviceId, entryId: entryIdOf(now), now };
  // A GET that stores must reach the service each time: no answer is kept.
  const shape = /^[^?]*\.(json|xml)\/?(?:\?|$)/.exec(request.url)?.[1];
  if (shape === 'json') return json(updateToWire(entry, parameters), unkept);
  return shape === 'xml'
    ? text(xmlType, updateToXml(updateToWire(entry, parameters)), unkept)
    : text(textType, String(entry.entryId), unkept);
}

/**
 * Sketches expect a number that is not 0 and grows. The second of the arrival is one, without
 * anything to keep; it fits the `long` of an Arduino until 2038.
 */
const entryIdOf = (now: Instant): number => Math.floor(now / 1_000);

/** The sender and device that an update names, whatever is wrong with the rest of it. */
interface KnownOfUpdate {
  readonly actor?: Actor;
  readonly deviceId?: DeviceId;
}

function knownOf(actor: Actor | undefined, parameters: UpdateParameters): KnownOfUpdate {
  const sender = actor === undefined ? {} : { actor };
  const named = namedDevice(parameters);
  try {
    return named === undefined ? sender : { ...sender, deviceId: parseDeviceId(named) };
  } catch {
    return sender;
  }
}

/** Finds the sender: the key may be a field, or in the head as the Arduino library has it. */
export async function senderOf(
  { authenticate }: ThingSpeakParts,
  { actor, headers, raw }: Pick<RouteRequest, 'actor' | 'headers' | 'raw'>,
  parameters: UpdateParameters,
): Promise<Actor> {
  const key =
    parameters.get('api_key') ??
    parameters.get('write_api_key') ??
    parameters.get('key') ??
    keyOf(headers);
  if (key === undefined) return actor;
  const sender = await authenticate(`Bearer ${key.trim()}`);
  countFor(raw.socket, payerOf(sender));
  return sender;
}

/** Of an update whose body cannot be read: what its address and its head say. */
async function knownOfAddress(
  parts: ThingSpeakParts,
  request: Pick<RouteRequest, 'actor' | 'headers' | 'raw'>,
  ofAddress: UpdateParameters,
): Promise<KnownOfUpdate> {
  let known = knownOf(undefined, ofAddress);
  try {
    const actor = await senderOf(parts, request, ofAddress);
    known = { ...known, actor };
    return { actor, deviceId: deviceOf(actor, ofAddress) };
  } catch {
    return known;
  }
}

/** An update as it came, with as many of its parameters as were read. */
interface SentUpdate {
  readonly request: Pick<RouteRequest, 'address' | 'url'>;
  readonly parameters: UpdateParameters;
}

/** Reports what was sent, without its key, to the owner of the device, or else to its sender. */
function note(
  { refusedPushes }: ThingSpeakParts,
  error: unknown,
  known: KnownOfUpdate & { readonly sensorId?: SensorId },
  { request: { address, url }, parameters }: SentUpdate,
): void {
  if (!(error instanceof DomainError || error instanceof EdgeError)) return;
  const code = known.deviceId === undefined && error.code === 'invalid' ? 'wrong_path' : error.code;
  const about = { via: 'http', code, error, description: error.message, address } as const;
  const sent = Buffer.from(updateText(parameters));
  void refusedPushes.note({ ...about, path: pathOf(url), sent, ...known });
}

/**
 * All fields but failed probes, or none when one of their sensors cannot be had. Answers the first
 * refusal, which was reported to the owner.
 */
async function store(
  parts: ThingSpeakParts,
  known: Required<KnownOfUpdate>,
  update: SentUpdate,
): Promise<DomainError | undefined> {
  const { actor, deviceId } = known;
  const { ingestMany, missingSensors } = parts;
  const fields = readUpdate(update.parameters);
  const datapoints = new Map<SensorId, NewDatapoint>();
  for (const [sensorId, field] of fields) {
    if (field instanceof DomainError) note(parts, field, { ...known, sensorId }, update);
    else datapoints.set(sensorId, field);
  }
  const maker = missingSensors(actor, { makesDevices: false, sensorsMax: datapoints.size });
  const [unmade] = await maker.makeOn(deviceId, new Set(datapoints.keys()));
  if (unmade !== undefined) {
    const [sensorId, refusal] = unmade;
    note(parts, refusal, { ...known, sensorId }, update);
    return refusal;
  }
  const bulk = ingestMany(actor, { path: pathOf(update.request.url) });
  const lines = [...datapoints].map(([sensorId, datapoint], index) => ({
    line: index + 1,
    sensor: { deviceId, sensorId },
    datapoint,
  }));
  await bulk.add(bulkStepOf(lines));
  const { refused } = await bulk.finish();
  return refused[0]?.refusal;
}

/** The device that is named, else the one that the key is for, as a channel's key is. */
function deviceOf(actor: Actor, parameters: UpdateParameters): DeviceId {
  const named = namedDevice(parameters);
  if (named !== undefined) return parseDeviceId(named);
  const only = onlyDeviceOf(actor);
  if (only !== undefined) return only;
  throw invalid('which device? give device_id, or an api_key that is limited to one device');
}

const namedDevice = (parameters: UpdateParameters): string | undefined =>
  (parameters.get('device_id') ?? parameters.get('channel_id'))?.trim();

function keyOf(headers: RouteRequest['headers']): string | undefined {
  const header = headers['x-thingspeakapikey'] ?? headers['thingspeakapikey'];
  return typeof header === 'string' && header.trim() !== '' ? header : undefined;
}

export function queryOf(url: string): UpdateParameters {
  const mark = url.indexOf('?');
  // Node hands the bytes of an address over as characters.
  return mark < 0 ? new Map() : readForm(Buffer.from(url.slice(mark + 1), 'latin1'));
}

async function readBody({ pieces, contentType = '' }: StreamBody): Promise<UpdateParameters> {
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  const isJson = type === 'application/json';
  // Old sketches send their form as text, or do not say what it is.
  if (!isJson && !['', 'application/x-www-form-urlencoded', 'text/plain'].includes(type)) {
    throw new EdgeError(
      'unsupported_media_type',
      `the content type ${type.slice(0, 60)} is not read here: send ` +
        'application/x-www-form-urlencoded or application/json',
    );
  }
  return readUpdateBody(await gatheredBody(pieces, endpointLimits.updateBytesMax), isJson);
}

/** A body of so many bytes at most. */
export async function gatheredBody(
  pieces: StreamBody['pieces'],
  bytesMax: number,
): Promise<Buffer> {
  const gathered = gatherBytes();
  for await (const piece of bounded(pieces, bytesMax)) gathered.add(piece);
  return gathered.take();
}
