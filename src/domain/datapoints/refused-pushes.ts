import type { Clock } from '../../lib/clock.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { DeviceDirectory } from '../devices/device-directory.ts';
import { deviceResource, noDevice } from '../devices/devices.ts';
import { type DeviceId, parseUsername, type SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { UserStore } from '../users/user-store.ts';
import { ClockAheadError } from './ingest.ts';
import { isNear } from './near-ids.ts';
import { createRefusalBook, type PushProblem, type RefusedPush } from './refusal-book.ts';

/** A push that was refused, as the edge that it came by knows it. */
export interface SeenRefusal {
  readonly via: 'http' | 'mqtt';
  /** The code of the refusal; those that say nothing about a push are passed over. */
  readonly code: string;
  readonly error?: unknown;
  /** Who sent it; absent: nobody knows, as the key is wrong. */
  readonly actor?: Actor;
  readonly deviceId?: DeviceId;
  readonly sensorId?: SensorId;
  /** What a client that was not let in called itself. */
  readonly username?: string;
}

/** The last pushes that were refused, for who wonders why nothing arrives. */
export interface RefusedPushes {
  /** Remembers one for the owner of the device, and for who sent it; never rejects. */
  note(refusal: SeenRefusal): Promise<void>;
  /**
   * The last of a day, newest first: those to this device, and those of its owner to ids like its
   * own. Throws not_found, and forbidden for all but the owner and administrators; of a device
   * that belongs to nobody everybody is an owner.
   */
  list(actor: Actor, deviceId: DeviceId): Promise<readonly RefusedPush[]>;
}

/** What an account sent to what is not there, or not its own. */
const stray = '';

export function createRefusedPushes(options: {
  readonly devices: Pick<DeviceDirectory, 'peek' | 'find'>;
  readonly users: Pick<UserStore, 'findByUsername'>;
  readonly access: Pick<Access, 'requireOwner'>;
  readonly clock: Clock;
}): RefusedPushes {
  const { devices, users, access, clock } = options;
  const book = createRefusalBook({
    perPageMax: limits.refusalsPerDeviceMax,
    bytesPerOwnerMax: limits.refusalBytesPerOwnerMax,
    bytesMax: limits.refusalBytesMax,
  });

  async function write(seen: SeenRefusal, problem: PushProblem): Promise<void> {
    const { via, actor, deviceId, sensorId, username } = seen;
    const refusal = {
      ...{ at: clock.now(), problem, via },
      ...(deviceId !== undefined && { deviceId }),
      ...(sensorId !== undefined && { sensorId }),
    };
    const sender = actor === undefined || actor.kind === 'guest' ? undefined : actor.username;
    if (deviceId === undefined) {
      const account = sender ?? (await accountCalled(username));
      if (account !== undefined) book.write(account, stray, refusal);
      return;
    }
    const owner = (devices.peek(deviceId) ?? (await devices.find(deviceId)))?.owner;
    if (owner !== undefined) book.write(owner, deviceId, refusal);
    if (sender === undefined || sender === owner) return;
    const missing = { ...refusal, problem: 'unknown_device' } as const;
    book.write(sender, stray, owner === undefined ? missing : refusal);
  }

  /** Only of accounts that are there: strangers cannot fill the book with names. */
  async function accountCalled(text: string | undefined): Promise<string | undefined> {
    if (text === undefined) return undefined;
    return (await users.findByUsername(parseUsername(text)))?.username;
  }

  return {
    async note(seen) {
      const problem = problemOf(seen);
      if (problem === undefined) return;
      try {
        await write(seen, problem);
      } catch {
        // It helps people; the refusal itself was answered.
      }
    },
    async list(actor, deviceId) {
      const device = await devices.find(deviceId);
      if (device === undefined) throw noDevice(deviceId);
      access.requireOwner(actor, deviceResource(device));
      const { owner, createdAt } = device;
      const since = Math.max(createdAt, clock.now() - limits.refusalMs);
      const strays = book
        .read(owner, stray)
        .filter((one) => one.deviceId === undefined || isNear(one.deviceId, deviceId));
      return [...book.read(owner, deviceId), ...strays]
        .filter(({ at }) => at >= since)
        .toReversed()
        .toSorted((one, other) => other.at - one.at)
        .slice(0, limits.refusalsPerDeviceMax);
    },
  };
}

const problems: ReadonlyMap<string, PushProblem> = new Map([
  ['unauthenticated', 'wrong_key'],
  ['forbidden', 'not_allowed'],
  ['not_found', 'unknown_sensor'],
  ['invalid', 'unreadable'],
  ['unsupported_media_type', 'unreadable'],
  ['too_large', 'too_large'],
  ['rate_limited', 'too_often'],
  ['limit_reached', 'no_room'],
  ['storage_full', 'no_room'],
  ['unavailable', 'unavailable'],
  ['wrong_path', 'wrong_path'],
  ['method_not_allowed', 'wrong_path'],
]);

/** Version 1 says refusals in its own words: what it was made of is its cause. */
const isAheadOfClock = (error: unknown): boolean =>
  error instanceof ClockAheadError ||
  (error instanceof Error && error.cause instanceof ClockAheadError);

function problemOf({ code, error, actor }: SeenRefusal): PushProblem | undefined {
  if (isAheadOfClock(error)) return 'clock_ahead';
  if (code === 'forbidden' && (actor === undefined || actor.kind === 'guest')) return 'no_key';
  return problems.get(code);
}
