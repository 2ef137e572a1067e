import type { Clock, Instant } from '../../lib/clock.ts';
import { runInSteps } from '../../lib/event-loop.ts';
import { writeJson } from '../../lib/long-json.ts';
import { withoutStackTraces } from '../../lib/stackless.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import type { Access } from '../access/policy.ts';
import type { Actor } from '../actor.ts';
import { type Payer, payerOf } from '../budgets/budget.ts';
import type { StorageQuotas } from '../budgets/storage-quotas.ts';
import { type Device, isTooLarge, sensorOf, valueTooLarge } from '../devices/device.ts';
import { type DeviceDirectory, deviceResource, noDevice, noSensor } from '../devices/devices.ts';
import { DomainError } from '../errors.ts';
import type { DeviceId, Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { PublishContext } from '../publish-context.ts';
import type { Appender, QueuedPush } from './appender.ts';
import {
  bytesPerWeight,
  type ColumnBatch,
  createBatchBuilder,
  singleBatch,
  weightOfBatch,
} from './column-batch.ts';
import type { SensorRef } from './datapoint.ts';
import type { AppendOutcome } from './datapoint-store.ts';
import { NewColumns, type NewDatapoint, type NewDatapoints, putRow } from './new-columns.ts';
import type { RefusedElements } from './refusal-book.ts';

/**
 * The one ingest path: every server hands its datapoints over here. When it resolves they are
 * synced to disk, the sensor's last value shows them, and listeners have received them. With
 * `refused`, what cannot be taken is put there, unless it is all that there is: the push is an
 * array then [contract 15].
 */
export type Ingest = (
  actor: Actor,
  sensor: SensorRef,
  datapoints: NewDatapoints,
  publishContext?: PublishContext,
  refused?: RefusedElements,
) => Promise<void>;

export interface IngestOptions {
  readonly devices: Pick<DeviceDirectory, 'peek' | 'find'>;
  readonly access: Access;
  readonly appender: Appender;
  readonly clock: Clock;
  /** Maximum bytes of a value as JSON text. */
  readonly valueBytesMax: number;
  readonly room: StorageQuotas;
}

export function createIngest(options: IngestOptions): Ingest {
  const { clock, valueBytesMax, room } = options;
  const queue = createPushQueue();

  /** Whether there is anything to store. Throws not_found and storage_full. */
  function requireStorable(push: NewPush, device: Device): boolean {
    const { actor, sensor, datapoints } = push;
    if (sensorOf(device, sensor.sensorId) === undefined) {
      throw noSensor(sensor.deviceId, sensor.sensorId);
    }
    if (datapoints.length === 0) {
      if (push.refused?.first !== undefined) throw push.refused.first;
      return false;
    }
    room.require(actor, device.owner);
    return true;
  }

  function store(
    { actor, sensor, publishContext }: NewPush,
    { owner }: Device,
    batch: ColumnBatch,
    isByStranger: boolean,
  ): Promise<void> {
    const { deviceId, sensorId } = sensor;
    const payer = payerOf(actor);
    const push: QueuedPush =
      publishContext === undefined
        ? { deviceId, sensorId, batch, payer, isByStranger }
        : { deviceId, sensorId, batch, payer, isByStranger, publishContext };
    return appendFor(options, actor, owner, push).then((outcome) => {
      if (outcome.kind === 'missing') throw noSensor(deviceId, sensorId);
    });
  }

  /** A push whose rights have to be read first, or a long one, or one behind such a push. */
  function ingestInSteps(push: NewPush): Promise<void> {
    const { actor, sensor } = push;
    const { deviceId } = sensor;
    return queue.add(payerOf(actor), deviceId, async (position) => {
      const device = await requirePushable(options, actor, deviceId);
      if (!requireStorable(push, device)) return undefined;
      const rules = { now: clock.now(), valueBytesMax };
      const batch = await runInSteps(receive(push, rules));
      const isByStranger = await options.access.isStranger(actor, deviceResource(device));
      await position;
      return { isStored: store(push, device, batch, isByStranger) };
    });
  }

  function ingestAtOnce(push: NewPush): Promise<void> {
    const { actor, sensor, datapoints } = push;
    const device = options.devices.peek(sensor.deviceId);
    if (device === undefined || datapoints.length > limits.datapointsPerTurn) {
      return ingestInSteps(push);
    }
    const resource = deviceResource(device);
    const { access } = options;
    if (access.tryAllow(actor, 'devices-data:create', resource) !== 'yes') {
      return ingestInSteps(push);
    }
    if (!queue.isEmpty() && queue.has(payerOf(actor), sensor.deviceId)) return ingestInSteps(push);
    const stranger = access.tryStranger(actor, resource);
    if (stranger === 'unknown') return ingestInSteps(push);
    if (!requireStorable(push, device)) return Promise.resolve();
    const rules = { now: clock.now(), valueBytesMax };
    return store(push, device, receiveAtOnce(push, rules), stranger === 'yes');
  }

  return (actor, sensor, datapoints, publishContext, refused) => {
    try {
      return ingestAtOnce({ actor, sensor, datapoints, publishContext, refused });
    } catch (reason) {
      return Promise.reject(reason);
    }
  };
}

/** A push as it is handed over. */
interface NewPush {
  readonly actor: Actor;
  readonly sensor: SensorRef;
  readonly datapoints: NewDatapoints;
  readonly publishContext: PublishContext | undefined;
  readonly refused: RefusedElements | undefined;
}

/** Stores a push within the quotas of strangers and of a guest's address. Throws storage_full. */
export function appendFor(
  options: Pick<IngestOptions, 'appender' | 'room'>,
  actor: Actor,
  owner: Username,
  push: QueuedPush,
): Promise<AppendOutcome> {
  if (push.isByStranger !== true && actor.kind !== 'guest') return options.appender.append(push);
  return appendWithin(options, actor, owner, push);
}

async function appendWithin(
  { appender, room }: Pick<IngestOptions, 'appender' | 'room'>,
  actor: Actor,
  owner: Username,
  push: QueuedPush,
): Promise<AppendOutcome> {
  const isByStranger = push.isByStranger === true;
  const done = isByStranger && room.hold(actor, owner, bytesPerWeight * weightOfBatch(push.batch));
  let stored = 0;
  try {
    const outcome = await appender.append(push);
    if (outcome.kind === 'stored') stored = bytesPerWeight * (outcome.weight ?? 0);
    if (stored > 0) room.addFor(actor, owner, stored);
    return outcome;
  } finally {
    if (done !== false) done(stored);
  }
}

/** The device, for an actor who may push to it; throws not_found or forbidden. */
export async function requirePushable(
  { devices, access }: Pick<IngestOptions, 'devices' | 'access'>,
  actor: Actor,
  deviceId: DeviceId,
): Promise<Device> {
  const device = await devices.find(deviceId);
  if (device === undefined) throw noDevice(deviceId);
  await access.require(actor, 'devices-data:create', deviceResource(device));
  return device;
}

/** Whether the device's clock runs too far ahead of ours [contract 6]. */
export function isAhead({ timestamp }: NewDatapoint, now: Instant): boolean {
  return timestamp !== undefined && timestamp > latestTaken(now);
}

/** A later timestamp is refused. */
export const latestTaken = (now: Instant): Instant => now + limits.timestampAheadMs;

/** The refusal of a timestamp ahead of our clock: explained apart from other refusals. */
export class ClockAheadError extends DomainError {
  constructor(message: string) {
    super('invalid', message);
    this.name = 'ClockAheadError';
  }
}

/** The refusal of such a timestamp, or of any; `where` says which datapoint of several it is. */
export function aheadOfClock(now: Instant, where: string, timestamp?: Instant): DomainError {
  const read = timestamp === undefined ? '' : ` ${formatTimestamp(timestamp)}`;
  return new ClockAheadError(
    `the timestamp${read}${where} is more than a day ahead of the server's clock, ` +
      `which says ${formatTimestamp(now)}`,
  );
}

interface ReceiveRules {
  readonly now: Instant;
  readonly valueBytesMax: number;
}

/** The refusal of the datapoint at `position`, too_large or invalid; undefined: it is taken. */
function refusalAt(push: NewPush, rules: ReceiveRules, position: number): DomainError | undefined {
  const { datapoints } = push;
  const { now, valueBytesMax } = rules;
  // As nearly all are: no object is made of those.
  if (datapoints instanceof NewColumns && mayBeTaken(datapoints, position, now, valueBytesMax)) {
    return undefined;
  }
  // Below their length there are no holes.
  return refusalOf(push, rules, position, datapoints.at(position) as NewDatapoint);
}

/** The same for a datapoint at hand. */
function refusalOf(
  { actor, datapoints, refused }: NewPush,
  { now, valueBytesMax }: ReceiveRules,
  position: number,
  datapoint: NewDatapoint,
): DomainError | undefined {
  const isLarge = isTooLarge(actor, datapoint.value, valueBytesMax);
  if (!isLarge && !isAhead(datapoint, now)) return undefined;
  const isOnly = datapoints.length + (refused?.count ?? 0) === 1;
  const where = isOnly ? '' : ` of datapoint ${(refused?.indexOf(position) ?? position) + 1}`;
  return isLarge
    ? valueTooLarge(valueBytesMax, where)
    : aheadOfClock(now, where, datapoint.timestamp);
}

/** Whether neither its time nor the length of its text can be refused. */
function mayBeTaken(of: NewColumns, at: number, now: Instant, valueBytesMax: number): boolean {
  const text = of.textAt(at);
  const isShort = text === undefined || bytesPerCharacterMax * text.length <= valueBytesMax;
  return isShort && (of.timestampAt(at) ?? now) <= latestTaken(now);
}

/** Of a JSON text in UTF-8, for one of UTF-16. */
const bytesPerCharacterMax = 3;

/** Puts a refused datapoint beside the others, or throws where there are no others. */
function refuse({ datapoints, refused }: NewPush, position: number, refusal: DomainError): void {
  if (refused === undefined) throw refusal;
  const datapoint = datapoints.at(position) as NewDatapoint;
  refused.refuse(position, refusal, () => excerptOf(datapoint, refusal));
}

/** How a refused datapoint begins, or the time for which it is refused. */
export const excerptOf = ({ value, timestamp }: NewDatapoint, refusal: DomainError): string =>
  refusal instanceof ClockAheadError && timestamp !== undefined
    ? formatTimestamp(timestamp)
    : writeJson(value);

/** The only datapoint of a push, with the time of its receipt. */
function receiveOne(push: NewPush, only: NewDatapoint, rules: ReceiveRules): ColumnBatch {
  const refusal = refusalOf(push, rules, 0, only);
  if (refusal === undefined) return singleBatch(only.value, only.timestamp, rules.now);
  refuse(push, 0, refusal);
  throw push.refused?.first ?? refusal;
}

/** Datapoints received before a check of the clock. */
const datapointsPerStep = 2_048;

/** The datapoints with the time of their receipt. Throws when none is taken. */
function* receive(push: NewPush, rules: ReceiveRules): Generator<void, ColumnBatch> {
  const { datapoints, refused } = push;
  const { length } = datapoints;
  const only = datapoints.at(0);
  if (length === 1 && only !== undefined) return receiveOne(push, only, rules);
  const builder = createBatchBuilder(length);
  for (let from = 0; from < length; from += datapointsPerStep) {
    const end = Math.min(from + datapointsPerStep, length);
    withoutStackTraces(() => {
      for (let at = from; at < end; at += 1) {
        const refusal = refusalAt(push, rules, at);
        if (refusal === undefined) putRow(builder, datapoints, at, rules.now);
        else refuse(push, at, refusal);
      }
    });
    yield;
  }
  if (builder.count === 0 && refused?.first !== undefined) throw refused.first;
  return builder.finish();
}

function receiveAtOnce(push: NewPush, rules: ReceiveRules): ColumnBatch {
  const only = push.datapoints.at(0);
  if (push.datapoints.length === 1 && only !== undefined) return receiveOne(push, only, rules);
  const steps = receive(push, rules);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * Pushes of one payer to one device that are not handed to the store at once: none overtakes
 * another, however long its lookups take. Other pushes wait for nothing.
 */
export function createPushQueue() {
  /** When the last one of each payer and device was handed over. */
  const last = new Map<string, Promise<void>>();
  const keyOf = (payer: Payer, deviceId: DeviceId): string => `${payer} ${deviceId}`;
  return {
    isEmpty: () => last.size === 0,
    /** Whether a push is under way: the next one waits behind it. */
    has: (payer: Payer, deviceId: DeviceId) => last.has(keyOf(payer, deviceId)),
    /**
     * Runs the work, which waits to be next in the queue before it hands anything over; undefined:
     * it has nothing to. Resolves when that is stored; throws what the work throws.
     */
    async add(
      payer: Payer,
      deviceId: DeviceId,
      work: (position: Promise<void>) => Promise<{ readonly isStored: Promise<void> } | undefined>,
    ): Promise<void> {
      const key = keyOf(payer, deviceId);
      const position = last.get(key) ?? Promise.resolve();
      const working = work(position);
      const over = working
        .then(ignore, ignore)
        .then(() => position)
        .finally(() => {
          if (last.get(key) === over) last.delete(key);
        });
      last.set(key, over);
      await (await working)?.isStored;
    },
  };
}

const ignore = (): void => undefined;
