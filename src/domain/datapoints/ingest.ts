import type { Clock, Instant } from '../../lib/clock.ts';
import { runInSteps } from '../../lib/event-loop.ts';
import { writeJson } from '../../lib/long-json.ts';
import { withoutStackTraces } from '../../lib/stackless.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import { payerOf } from '../budgets/payer.ts';
import type { StorageQuotas } from '../budgets/storage-quotas.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import { type DeviceDirectory, deviceResource, noDevice, noSensor } from '../devices/devices.ts';
import { isTooLarge, valueTooLarge } from '../devices/value-size.ts';
import { DomainError } from '../errors.ts';
import type { DeviceId, Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { PublishContext } from '../publish-context.ts';
import type { Appender, QueuedPush } from './appender.ts';
import {
  type BatchBuilder,
  type ColumnBatch,
  createBatchBuilder,
  singleBatch,
} from './column-batch.ts';
import type { SensorRef } from './datapoint.ts';
import type { AppendOutcome } from './datapoint-store.ts';
import { NewColumns } from './new-columns.ts';
import type { NewDatapoint, NewDatapoints } from './new-datapoint.ts';
import { createPushQueue } from './push-queue.ts';
import type { RefusedElements } from './refused-elements.ts';
import { bytesPerWeight, weightOfBatch } from './weight.ts';

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
  const { appender, clock, valueBytesMax, room } = options;
  const line = createPushQueue();

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
    const stored = isByStranger
      ? appendOfStranger({ appender, room }, actor, owner, push)
      : appender.append(push);
    return stored.then((outcome) => {
      if (outcome.kind === 'missing') throw noSensor(deviceId, sensorId);
      if (actor.kind === 'guest') countForAddress(room, actor, owner, outcome);
    });
  }

  /** A push whose rights have to be read first, or a long one, or one behind such a push. */
  function ingestInSteps(push: NewPush): Promise<void> {
    const { actor, sensor } = push;
    const { deviceId } = sensor;
    return line.add(payerOf(actor), deviceId, async (turn) => {
      const device =
        peekPushable(options, actor, deviceId) ?? (await requirePushable(options, actor, deviceId));
      if (!requireStorable(push, device)) return undefined;
      const rules = { now: clock.now(), valueBytesMax };
      const batch = await runInSteps(receiveSteps(push, rules));
      const isByStranger = await options.access.isStranger(actor, deviceResource(device));
      await turn;
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
    if (!line.isEmpty() && line.has(payerOf(actor), sensor.deviceId)) return ingestInSteps(push);
    const stranger = access.tryStranger(actor, resource);
    if (stranger === 'unknown') return ingestInSteps(push);
    if (!requireStorable(push, device)) return Promise.resolve();
    const rules = { now: clock.now(), valueBytesMax };
    return store(push, device, receive(push, rules), stranger === 'yes');
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

/** Stores what a stranger pushes, within what strangers may store. Throws storage_full. */
export async function appendOfStranger(
  { appender, room }: Pick<IngestOptions, 'appender' | 'room'>,
  actor: Actor,
  owner: Username,
  push: QueuedPush,
): Promise<AppendOutcome> {
  const done = room.hold(actor, owner, bytesPerWeight * weightOfBatch(push.batch));
  let stored = 0;
  try {
    const outcome = await appender.append(push);
    if (outcome.kind === 'stored') stored = bytesPerWeight * (outcome.weight ?? 0);
    return outcome;
  } finally {
    done(stored);
  }
}

/** Counts what a guest's push took for the quota of the guest's address. */
export function countForAddress(
  room: StorageQuotas,
  actor: Actor,
  owner: Username,
  outcome: AppendOutcome,
): void {
  if (outcome.kind !== 'stored' || outcome.weight === undefined) return;
  room.addFor(actor, owner, bytesPerWeight * outcome.weight);
}

/**
 * The device, where it is at hand that the actor may push to it, as for most pushes. Undefined:
 * not known, ask `requirePushable`.
 */
function peekPushable(
  { devices, access }: Pick<IngestOptions, 'devices' | 'access'>,
  actor: Actor,
  deviceId: DeviceId,
): Device | undefined {
  const device = devices.peek(deviceId);
  if (device === undefined) return undefined;
  const verdict = access.tryAllow(actor, 'devices-data:create', deviceResource(device));
  return verdict === 'yes' ? device : undefined;
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

/**
 * The refusal of such a timestamp, or of any one; `where` says which datapoint of several it is.
 */
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
function refusalAt(
  { actor, datapoints, refused }: NewPush,
  { now, valueBytesMax }: ReceiveRules,
  position: number,
): DomainError | undefined {
  // As nearly all are: no object is made of those.
  if (datapoints instanceof NewColumns && mayBeTaken(datapoints, position, now, valueBytesMax)) {
    return undefined;
  }
  // Below their length there are no holes.
  const datapoint = datapoints.at(position) as NewDatapoint;
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
  refusal.code === 'too_large' || timestamp === undefined
    ? writeJson(value)
    : formatTimestamp(timestamp);

/** The datapoints with the time of their receipt. */
function receive(push: NewPush, rules: ReceiveRules): ColumnBatch {
  const { datapoints } = push;
  const only = datapoints.at(0);
  if (datapoints.length === 1 && only !== undefined) {
    const refusal = refusalAt(push, rules, 0);
    if (refusal === undefined) return singleBatch(only.value, only.timestamp, rules.now);
    refuse(push, 0, refusal);
    throw push.refused?.first ?? refusal;
  }
  const builder = createBatchBuilder(datapoints.length);
  receiveInto(builder, push, rules, { from: 0, end: datapoints.length });
  return finish(builder, push);
}

/** Adds datapoints up to the one at `end`, which is excluded. */
function receiveInto(
  builder: BatchBuilder,
  push: NewPush,
  rules: ReceiveRules,
  { from, end }: { readonly from: number; readonly end: number },
): void {
  withoutStackTraces(() => {
    for (let at = from; at < end; at += 1) {
      const refusal = refusalAt(push, rules, at);
      if (refusal === undefined) putRow(builder, push.datapoints, at, rules.now);
      else refuse(push, at, refusal);
    }
  });
}

function putRow(builder: BatchBuilder, from: NewDatapoints, at: number, now: Instant): void {
  if (from instanceof NewColumns) {
    const text = from.textAt(at);
    if (text === undefined) builder.put(from.numberAt(at), from.timestampAt(at), now);
    else builder.putText(text, from.timestampAt(at), now);
    return;
  }
  const { value, timestamp } = from.at(at) as NewDatapoint;
  builder.put(value, timestamp, now);
}

/** The columns of what was taken. Throws when that is nothing. */
function finish(builder: BatchBuilder, { refused }: NewPush): ColumnBatch {
  if (builder.count === 0 && refused?.first !== undefined) throw refused.first;
  return builder.finish();
}

/** Datapoints received before a check of the clock. */
const datapointsPerStep = 2_048;

/** The same for an array so long that other work must have its slice meanwhile. */
function* receiveSteps(push: NewPush, rules: ReceiveRules): Generator<void, ColumnBatch> {
  const { length } = push.datapoints;
  if (length === 1) return receive(push, rules);
  const builder = createBatchBuilder(length);
  for (let from = 0; from < length; from += datapointsPerStep) {
    const end = Math.min(from + datapointsPerStep, length);
    receiveInto(builder, push, rules, { from, end });
    yield;
  }
  return finish(builder, push);
}
