import type { Clock, Instant } from '../../lib/clock.ts';
import { createId, createSecret, hashSecret } from '../../lib/secret-token.ts';
import type { Scope } from '../access/scopes.ts';
import type { Actor } from '../actor.ts';
import { invalid, notFound, unauthenticated } from '../errors.ts';
import { type AccessKeyId, type DeviceId, parseAccessKeyId } from '../ids.ts';
import { limits } from '../limits.ts';
import { requirePerson } from './account-access.ts';
import { accessKeyPrefix } from './credential-directory.ts';
import type { AccessKeyRecord, CredentialStore } from './credential-store.ts';

export interface NewAccessKey {
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly devices?: readonly DeviceId[];
  readonly expiresAt?: Instant;
}

/** Long-lived secrets for gateways and devices, never wider than their owner's rights. */
export interface AccessKeys {
  /** The answer holds the secret, which is shown this once and kept only as a hash. */
  create(actor: Actor, key: NewAccessKey): Promise<{ record: AccessKeyRecord; secret: string }>;
  list(actor: Actor): Promise<readonly AccessKeyRecord[]>;
  remove(actor: Actor, id: AccessKeyId): Promise<void>;
}

export function createAccessKeys(options: {
  readonly credentials: CredentialStore;
  readonly clock: Clock;
}): AccessKeys {
  const { credentials, clock } = options;
  return {
    async create(actor, key) {
      const person = requirePerson(actor);
      if (key.expiresAt !== undefined && key.expiresAt <= clock.now()) {
        throw invalid('expires must be in the future');
      }
      const secret = createSecret(accessKeyPrefix);
      const record: AccessKeyRecord = {
        ...key,
        id: parseAccessKeyId(createId()),
        hash: hashSecret(secret),
        userId: person.userId,
        createdAt: clock.now(),
      };
      const outcome = await credentials.insertKey(record);
      if (outcome === 'too_many') {
        throw invalid(`a user may have ${limits.accessKeysPerUserMax} keys: delete one first`);
      }
      if (outcome === 'gone') throw unauthenticated('this account is gone or disabled');
      return { record, secret };
    },
    list: async (actor) => credentials.listKeys(requirePerson(actor).userId),
    async remove(actor, id) {
      const { userId } = requirePerson(actor);
      if ((await credentials.removeKey(userId, id)) === 'missing') {
        throw notFound(`you have no key with id ${id}`);
      }
    },
  };
}
