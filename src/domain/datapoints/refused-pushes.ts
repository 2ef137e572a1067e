import type { Clock } from '../../lib/clock.ts';
import type { Access } from '../access/policy.ts';
import type { Actor } from '../actor.ts';
import { type Payer, payerAt, payerOf } from '../budgets/budget.ts';
import type { Device } from '../devices/device.ts';
import { type DeviceDirectory, deviceResource, noDevice } from '../devices/devices.ts';
import { DomainError } from '../errors.ts';
import { type DeviceId, parseUsername, type SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { UserStore } from '../users/user.ts';
import { ClockAheadError } from './ingest.ts';
import {
  createRefusalBook,
  isAlike,
  type NewRefusal,
  type PushProblem,
  type RefusedElements,
  type RefusedPush,
  refusedElementsOf,
  shorten,
} from './refusal-book.ts';

/** A push that was refused, as the edge that it came by knows it. */
export interface SeenRefusal {
  readonly via: 'http' | 'mqtt';
  /** The code of the refusal; those that say nothing about a push are passed over. */
  readonly code: string;
  readonly error?: unknown;
  /** Sender of the push; absent: unknown, as the key is wrong. */
  readonly actor?: Actor;
  /** The IP address that it came from, where the actor has none. */
  readonly address?: string;
  readonly deviceId?: DeviceId;
  readonly sensorId?: SensorId;
  /** The sentence of the refusal; absent: that of `error`, where it is one of the domain. */
  readonly description?: string;
  /** Where it was sent, by path or topic. */
  readonly path?: string | undefined;
  /** The body or payload as it was sent, where it is at hand. */
  readonly sent?: Uint8Array | undefined;
  /** Elements of an array that were refused, while others may have been stored. */
  readonly refused?: RefusedElements;
  /** Username given by a client that was not let in. */
  readonly username?: string;
}

/** The last pushes that were refused, for users who wonder why nothing arrives. */
export type RefusedPushes = ReturnType<typeof createRefusedPushes>;
/** Page for pushes of an account to anything that is not there, or not its own. */
const stray = '';

export function createRefusedPushes(options: {
  readonly devices: Pick<DeviceDirectory, 'peek' | 'find'>;
  readonly users: Pick<UserStore, 'findByUsername'>;
  readonly access: Pick<Access, 'requireOwner' | 'tryAllow'>;
  readonly clock: Clock;
}) {
  const { devices, users, access, clock } = options;
  const book = createRefusalBook({
    perSheetMax: limits.refusalsPerDeviceMax,
    sheetsPerPageMax: limits.refusalSendersPerDeviceMax,
    bytesPerSenderMax: limits.refusalBytesPerSenderMax,
    bytesMax: limits.refusalBytesMax,
  });

  async function write(
    seen: SeenRefusal,
    problem: PushProblem,
    what: Pick<NewRefusal, 'description' | 'excerpt' | 'elements' | 'count'>,
  ): Promise<void> {
    const { via, actor, deviceId, sensorId, username } = seen;
    const path = seen.path?.slice(0, shownMax);
    const refusal = {
      ...{ at: clock.now(), problem, via, ...what },
      ...(path !== undefined && { path }),
      ...(deviceId !== undefined && { deviceId }),
      ...(sensorId !== undefined && { sensorId }),
    };
    const sender = actor === undefined || actor.kind === 'guest' ? undefined : actor.username;
    const payer = payerOfRefusal(seen);
    const by = (owner: string) => ({ payer, isOwner: sender === owner });
    if (deviceId === undefined) {
      const account = sender ?? (await accountCalled(username));
      if (account !== undefined) book.write(account, stray, by(account), refusal);
      return;
    }
    const device = devices.peek(deviceId) ?? (await devices.find(deviceId));
    const owner = device?.owner;
    if (device !== undefined) {
      const shown = mayPush(actor, device) ? refusal : withoutContent(refusal);
      book.write(device.owner, deviceId, by(device.owner), shown);
    }
    if (sender === undefined || sender === owner) return;
    const missing = { ...refusal, problem: 'unknown_device' } as const;
    book.write(sender, stray, by(sender), owner === undefined ? missing : refusal);
  }

  const mayPush = (actor: Actor | undefined, device: Device): boolean =>
    actor !== undefined &&
    access.tryAllow(actor, 'devices-data:create', deviceResource(device)) === 'yes';

  /** Only of accounts that are there: strangers cannot fill the book with names. */
  async function accountCalled(text: string | undefined): Promise<string | undefined> {
    if (text === undefined) return undefined;
    return (await users.findByUsername(parseUsername(text)))?.username;
  }

  async function record(
    seen: Omit<SeenRefusal, 'sent'>,
    excerpt: Pick<NewRefusal, 'excerpt'>,
  ): Promise<void> {
    const refused = seen.refused ?? refusedElementsOf(seen.error);
    const problem = problemOf(seen);
    if (problem === undefined) return;
    try {
      if (refused === undefined) {
        return await write(seen, problem, { ...sentenceOf(seen), ...excerpt });
      }
      for (const { refusal, elements, count } of refused.kinds()) {
        const kind = problemOf({ ...seen, code: refusal.code, error: refusal }) ?? problem;
        await write(seen, kind, { elements, count });
      }
    } catch {
      // The entry only helps people; the refusal itself was answered.
    }
  }

  /** Refusals whose device or account is being looked up, by payer. */
  const underWay = new Map<Payer, Map<Promise<void>, Omit<SeenRefusal, 'sent'>>>();

  /** Finds those to the device, or sent by its owner: what strangers send elsewhere delays none. */
  const underWayFor = ({ id, owner }: Device): readonly Promise<void>[] =>
    [...underWay.values()].flatMap((ofPayer) =>
      [...ofPayer].flatMap(([work, { deviceId, actor }]) => {
        const isOwn = actor !== undefined && actor.kind !== 'guest' && actor.username === owner;
        return isOwn || deviceId === id ? [work] : [];
      }),
    );

  return {
    /** Remembers one for the owner of the device, and for who sent it; never rejects. */
    note({ sent, ...seen }: SeenRefusal): Promise<void> {
      const payer = payerOfRefusal(seen);
      const ofPayer = underWay.get(payer) ?? new Map();
      // Entries only help people: a sender who floods the store has fewer.
      if (ofPayer.size >= limits.refusalsUnderWayPerSenderMax) return Promise.resolve();
      const work = record(seen, excerptOf(sent)).finally(() => {
        ofPayer.delete(work);
        if (ofPayer.size === 0) underWay.delete(payer);
      });
      underWay.set(payer, ofPayer.set(work, seen));
      return work;
    },
    /**
     * The last of a day, newest first: those to this device, and those of its owner to ids like its
     * own. The owner's have most of the list, whatever others send. Throws not_found, and forbidden
     * for all but the owner and administrators; every actor is an owner of a device without one.
     */
    async list(actor: Actor, deviceId: DeviceId): Promise<readonly RefusedPush[]> {
      const device = await devices.find(deviceId);
      if (device === undefined) throw noDevice(deviceId);
      access.requireOwner(actor, deviceResource(device));
      // Senders may ask as soon as they were answered.
      await Promise.all(underWayFor(device));
      const { owner, createdAt } = device;
      const since = Math.max(createdAt, clock.now() - limits.refusalMs);
      const page = book.read(owner, deviceId);
      const strays = book.read(owner, stray);
      const isMeant = (one: RefusedPush) =>
        one.deviceId === undefined || isNear(one.deviceId, deviceId);
      const newest = (all: readonly RefusedPush[]) =>
        newestFirst(all.filter(({ at }) => at >= since));
      return shownOf(
        newest([...page.own, ...strays.own.filter(isMeant)]),
        newest([...page.others, ...strays.others.filter(isMeant)]),
      );
    },
  };
}

/** Characters of a path or sentence. */
const shownMax = 4 * limits.refusedExcerptMax;

function sentenceOf({ description, error }: SeenRefusal): Pick<NewRefusal, 'description'> {
  const sentence = description ?? (error instanceof DomainError ? error.message : undefined);
  return sentence === undefined ? {} : { description: sentence.slice(0, shownMax) };
}

/** The decoder of all refusals: making one takes longer than noting a refusal. */
const decoder = new TextDecoder();

/** The first characters of the body or payload. */
function excerptOf(sent: Uint8Array | undefined): Pick<NewRefusal, 'excerpt'> {
  if (sent === undefined || sent.length === 0) return {};
  const begin = sent.subarray(0, 4 * limits.refusedExcerptMax);
  const text = decoder.decode(begin, { stream: true });
  // The rest of a letter that was cut is not for the next one.
  decoder.decode();
  return { excerpt: shorten(text) };
}

/** A sender without the right to push shows the owner of the device nothing of the content. */
const withoutContent = ({ excerpt: _, elements: _2, ...refusal }: NewRefusal): NewRefusal =>
  refusal;

/** An account, a guest's address, or the address of a sender whose key is wrong. */
function payerOfRefusal({ actor, address }: SeenRefusal): Payer {
  if (actor !== undefined && (actor.kind !== 'guest' || address === undefined)) {
    return payerOf(actor);
  }
  return payerAt(address ?? 'unknown');
}

const newestFirst = (refusals: readonly RefusedPush[]): readonly RefusedPush[] =>
  refusals.toReversed().toSorted((one, other) => other.at - one.at);

/** Of what is shown, as long as the owner's own need the rest. */
const placesOfOthersMin = 3;

/** The owner's own, and some places for those of others; what is alike is one. */
function shownOf(
  own: readonly RefusedPush[],
  others: readonly RefusedPush[],
): readonly RefusedPush[] {
  const max = limits.refusalsPerDeviceMax;
  const alike = others.filter((one) => !own.some((other) => isAlike(one, other)));
  const kinds: RefusedPush[] = [];
  for (const one of alike) {
    const at = kinds.findIndex((other) => isAlike(one, other));
    const known = kinds[at];
    if (known === undefined) kinds.push(one);
    else kinds[at] = { ...known, count: known.count + one.count };
  }
  const placesOfOthers = Math.min(kinds.length, placesOfOthersMin);
  const shownOwn = own.slice(0, max - placesOfOthers).map((one) => {
    const same = others.filter((other) => isAlike(one, other));
    return { ...one, count: same.reduce((sum, { count }) => sum + count, one.count) };
  });
  return newestFirst([...shownOwn, ...kinds.slice(0, max - shownOwn.length)].toReversed());
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

/** Ids longer than this are not compared letter by letter. */
const comparedMax = 64;

/**
 * Whether a sender that meant `id` may have written `written`: the same but for case and signs, or
 * up to two letters that are missing, too many or wrong; one where the id is short.
 */
export function isNear(written: string, id: string): boolean {
  const [one, other] = [plain(written), plain(id)];
  if (one === other) return true;
  if (Math.max(one.length, other.length) > comparedMax) return false;
  const allowed = other.length < 5 ? 1 : 2;
  return Math.abs(one.length - other.length) <= allowed && distance(one, other) <= allowed;
}

const plain = (id: string): string => id.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Edits from one text to the other; two letters that changed places count as one. */
function distance(one: string, other: string): number {
  let [before, row] = [[] as number[], Array.from({ length: other.length + 1 }, (_, n) => n)];
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const edits = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwapped =
        i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      next.push(isSwapped ? Math.min(edits, (before[j - 2] ?? 0) + 1) : edits);
    }
    [before, row] = [row, next];
  }
  return row[other.length] ?? 0;
}
