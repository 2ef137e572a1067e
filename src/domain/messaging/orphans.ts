import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { DeviceStore } from '../devices/device.ts';
import type { GatewayStore } from '../gateways/gateways.ts';
import type { GatewayId } from '../ids.ts';
import type { CredentialStore } from '../users/credential-store.ts';
import type { UserStore } from '../users/user.ts';
import { ownerOfTopic, partOf } from './device-topics.ts';
import { accountOf } from './identity.ts';
import type { Message, SessionKey } from './message.ts';
import type { SessionRecord, StoredSessions } from './session-store.ts';

/** Finds what is kept for things that are gone: a crash came before the clean-up. */
export type FindOrphans = ReturnType<typeof createFindOrphans>;
/** Things that are asked about in one slice of the event loop. */
const thingsPerTurn = 1_000;

export function createFindOrphans(options: {
  readonly users: Pick<UserStore, 'find'>;
  readonly credentials: Pick<CredentialStore, 'findKeyOf'>;
  readonly devices: Pick<DeviceStore, 'existing'>;
  readonly gateways: Pick<GatewayStore, 'find'>;
}) {
  const { users, credentials, devices, gateways } = options;

  /** Whether it is a guest's, or its account, and its key if it has one, exist and may log in. */
  async function isThere(identity: string): Promise<boolean> {
    const { userId, keyId } = accountOf(identity) ?? {};
    if (userId === undefined) return true;
    const user = await users.find(userId);
    if (user === undefined || user.isDisabled) return false;
    return keyId === undefined || (await credentials.findKeyOf(userId, keyId)) !== undefined;
  }

  async function sessionsOfNobody(
    sessions: readonly SessionRecord[],
  ): Promise<ReadonlySet<SessionKey>> {
    const isKnown = askedOnce(isThere);
    const found = new Set<SessionKey>();
    for (const { key, identity } of sessions) if (!(await isKnown(identity))) found.add(key);
    return found;
  }

  async function topicsOfNothing(retained: readonly Message[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (let at = 0; at < retained.length; at += thingsPerTurn) {
      const some = retained.slice(at, at + thingsPerTurn).flatMap(({ topic }) => {
        const part = partOf(topic);
        return part === undefined ? [] : { topic, part };
      });
      const existing = await devices.existing(some.map(({ part }) => part));
      for (const [index, { topic }] of some.entries()) {
        if (existing[index] === false) found.add(topic);
      }
      await yieldToEventLoop();
    }
    const hasGateway = askedOnce(async (id: GatewayId) => (await gateways.find(id)) !== undefined);
    for (const { topic } of retained) {
      const place = ownerOfTopic(topic);
      if (place?.kind !== 'gateway') continue;
      if (!(await hasGateway(place.id as GatewayId))) found.add(topic);
    }
    return found;
  }

  /** Sessions without an account or key, and retained messages without a device or gateway. */
  return async ({ sessions, retained }: StoredSessions) => ({
    sessions: await sessionsOfNobody(sessions),
    topics: await topicsOfNothing(retained),
  });
}

/** Remembers the answers, and lets other work run between many questions. */
function askedOnce<Id, Answer>(ask: (id: Id) => Promise<Answer>): (id: Id) => Promise<Answer> {
  const known = new Map<Id, Answer>();
  return async (id) => {
    if (known.has(id)) return known.get(id) as Answer;
    const answer = await ask(id);
    known.set(id, answer);
    if (known.size % thingsPerTurn === 0) await yieldToEventLoop();
    return answer;
  };
}
