import type { Clock, Instant } from '../../lib/clock.ts';
import { runInSteps } from '../../lib/event-loop.ts';
import type { JsonValue } from '../../lib/json.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import { type Payer, payerOf } from '../budgets/payer.ts';
import type { StorageRoom } from '../budgets/storage-room.ts';
import { type Device, sensorOf } from '../devices/device.ts';
import type { DeviceDirectory } from '../devices/device-directory.ts';
import { deviceResource, noDevice, noSensor } from '../devices/devices.ts';
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
import { createPushLine } from './push-line.ts';
import { bytesPerWeight } from './weight.ts';

/** A datapoint as a client hands it over: not yet received. */
export interface NewDatapoint {
  readonly value: JsonValue;
  readonly timestamp?: Instant;
}

/**
 * The one ingest path: every server hands its datapoints over here. When it resolves they are
 * synced to disk, the sensor's last value shows them, and those who watch were told.
 */
export type Ingest = (
  actor: Actor,
  sensor: SensorRef,
  datapoints: readonly NewDatapoint[],
  publishContext?: PublishContext,
) => Promise<void>;

export interface IngestOptions {
  readonly devices: Pick<DeviceDirectory, 'peek' | 'find'>;
  readonly access: Access;
  readonly appender: Appender;
  readonly clock: Clock;
  /** What a value may have as JSON text. */
  readonly valueBytesMax: number;
  readonly room: StorageRoom;
}

export function createIngest(options: IngestOptions): Ingest {
  const { appender, clock, valueBytesMax, room } = options;
  const payerFor = createPayerMemory();
  const line = createPushLine();

  /** Whether there is anything to store. Throws not_found and storage_full. */
  function requireStorable(push: NewPush, device: Device): boolean {
    const { actor, sensor, datapoints } = push;
    if (sensorOf(device, sensor.sensorId) === undefined) {
      throw noSensor(sensor.deviceId, sensor.sensorId);
    }
    if (datapoints.length === 0) return false;
    room.require(actor, device.owner);
    return true;
  }

  function store(
    { actor, sensor, publishContext }: NewPush,
    { owner }: Device,
    batch: ColumnBatch,
  ): Promise<void> {
    const { deviceId, sensorId } = sensor;
    const payer = payerFor(actor);
    const push: QueuedPush =
      publishContext === undefined
        ? { deviceId, sensorId, batch, payer }
        : { deviceId, sensorId, batch, payer, publishContext };
    return appender.append(push).then((outcome) => {
      if (outcome.kind === 'missing') throw noSensor(deviceId, sensorId);
      if (actor.kind === 'guest') countForAddress(room, actor, owner, outcome);
    });
  }

  /** A push whose rights have to be looked up first, or a long one, or one behind such a push. */
  function ingestInSteps(push: NewPush): Promise<void> {
    const { actor, sensor, datapoints } = push;
    const { deviceId } = sensor;
    return line.add(payerFor(actor), deviceId, async (turn) => {
      const device =
        peekPushable(options, actor, deviceId) ?? (await requirePushable(options, actor, deviceId));
      if (!requireStorable(push, device)) return undefined;
      const rules = { now: clock.now(), valueBytesMax };
      const batch = await runInSteps(receiveSteps(actor, datapoints, rules));
      await turn;
      return { isStored: store(push, device, batch) };
    });
  }

  function ingestAtOnce(push: NewPush): Promise<void> {
    const { actor, sensor, datapoints } = push;
    const device = peekPushable(options, actor, sensor.deviceId);
    if (device === undefined || datapoints.length > limits.datapointsPerTurn) {
      return ingestInSteps(push);
    }
    if (!line.isEmpty() && line.has(payerFor(actor), sensor.deviceId)) return ingestInSteps(push);
    if (!requireStorable(push, device)) return Promise.resolve();
    const rules = { now: clock.now(), valueBytesMax };
    return store(push, device, receive(actor, datapoints, rules));
  }

  return (actor, sensor, datapoints, publishContext) => {
    try {
      return ingestAtOnce({ actor, sensor, datapoints, publishContext });
    } catch (reason) {
      return Promise.reject(reason);
    }
  };
}

/** A push as it is handed over. */
interface NewPush {
  readonly actor: Actor;
  readonly sensor: SensorRef;
  readonly datapoints: readonly NewDatapoint[];
  readonly publishContext: PublishContext | undefined;
}

/** `payerOf`, which spells the name of an account once for all pushes of one login. */
function createPayerMemory(): (actor: Actor) => Payer {
  const payers = new WeakMap<Actor, Payer>();
  return (actor) => {
    // Each request of a guest has an actor of its own.
    if (actor.kind === 'guest') return payerOf(actor);
    const known = payers.get(actor);
    if (known !== undefined) return known;
    const payer = payerOf(actor);
    payers.set(actor, payer);
    return payer;
  };
}

/** Counts what a guest's push took for the share of the guest's address. */
export function countForAddress(
  room: StorageRoom,
  actor: Actor,
  owner: Username,
  outcome: AppendOutcome,
): void {
  if (outcome.kind !== 'stored' || outcome.weight === undefined) return;
  room.addFor(actor, owner, bytesPerWeight * outcome.weight);
}

/**
 * The device, where it is at hand that the actor may push to it, as for most pushes. Undefined
 * tells nothing: ask `requirePushable`.
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

/** The refusal of a timestamp ahead of our clock, told apart from others by who explains them. */
export class ClockAheadError extends DomainError {
  constructor(message: string) {
    super('invalid', message);
    this.name = 'ClockAheadError';
  }
}

/** The refusal of such a timestamp; `where` says which datapoint of several it is. */
export function aheadOfClock(now: Instant, where: string): DomainError {
  return new ClockAheadError(
    `the timestamp${where} is more than a day ahead of the server's clock, ` +
      `which says ${formatTimestamp(now)}`,
  );
}

interface ReceiveRules {
  readonly now: Instant;
  readonly valueBytesMax: number;
}

/** Throws too_large and invalid for a datapoint, the one at `at` of `total`, that is not taken. */
function requireTakeable(
  actor: Actor,
  datapoint: NewDatapoint,
  { now, valueBytesMax }: ReceiveRules,
  at: number,
  total: number,
): void {
  if (isTooLarge(actor, datapoint.value, valueBytesMax)) {
    throw valueTooLarge(valueBytesMax, whereOf(at, total));
  }
  if (isAhead(datapoint, now)) throw aheadOfClock(now, whereOf(at, total));
}

const whereOf = (at: number, total: number): string =>
  total === 1 ? '' : ` of datapoint ${at + 1}`;

/** The datapoints with the time of their receipt. */
function receive(
  actor: Actor,
  datapoints: readonly NewDatapoint[],
  rules: ReceiveRules,
): ColumnBatch {
  const [only] = datapoints;
  if (datapoints.length === 1 && only !== undefined) {
    requireTakeable(actor, only, rules, 0, 1);
    return singleBatch(only.value, only.timestamp, rules.now);
  }
  const builder = createBatchBuilder(datapoints.length);
  receiveInto(builder, actor, datapoints, rules, datapoints.length);
  return builder.finish();
}

/** Adds datapoints up to the one at `end`, which is excluded. */
function receiveInto(
  builder: BatchBuilder,
  actor: Actor,
  datapoints: readonly NewDatapoint[],
  rules: ReceiveRules,
  end: number,
): void {
  for (let at = builder.count; at < end; at += 1) {
    // Below its length the array has no holes.
    const datapoint = datapoints[at] as NewDatapoint;
    requireTakeable(actor, datapoint, rules, at, datapoints.length);
    builder.put(datapoint.value, datapoint.timestamp, rules.now);
  }
}

/** The same for an array so long that others must have their turn meanwhile. */
function* receiveSteps(
  actor: Actor,
  datapoints: readonly NewDatapoint[],
  rules: ReceiveRules,
): Generator<void, ColumnBatch> {
  if (datapoints.length === 1) return receive(actor, datapoints, rules);
  const builder = createBatchBuilder(datapoints.length);
  while (builder.count < datapoints.length) {
    const end = Math.min(builder.count + limits.datapointsPerTurn, datapoints.length);
    receiveInto(builder, actor, datapoints, rules, end);
    yield;
  }
  return builder.finish();
}
