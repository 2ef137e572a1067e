import type { Clock } from '../../lib/clock.ts';
import { createId, createSecret, hashSecret } from '../../lib/secret-token.ts';
import type { Actor } from '../actor.ts';
import { notFound, unauthenticated } from '../errors.ts';
import { limits } from '../limits.ts';
import { requirePerson } from './account-access.ts';
import type {
  CredentialStore,
  SessionRecord,
  TokenBasis,
  TokenRecord,
} from './credential-store.ts';
import type { LoggedIn } from './logins.ts';

/** Sender of a request, as the list of logged-in browsers shows it. */
export interface Browser {
  readonly name: string;
  readonly address: string;
}

/** Browsers that stay logged in [contract 13]. */
export interface BrowserSessions {
  /** Like open, for a browser that stays logged in: `cookie` renews it for 30 days of no use. */
  remember(
    login: LoggedIn,
    from: Browser,
    lifeSeconds: number,
  ): Promise<{ readonly token: string; readonly cookie: string }>;
  /**
   * A fresh token for the cookie of a browser, and its next cookie; none while another tab has
   * just been given it. Throws unauthenticated.
   */
  renewByCookie(
    cookie: string,
    address: string,
    lifeSeconds: number,
  ): Promise<{ readonly token: string; readonly cookie?: string }>;
  /** The caller's browsers that stay logged in, those used last first. */
  list(actor: Actor): Promise<readonly SessionRecord[]>;
  /** Logs one of the caller's browsers out. Throws not_found. */
  remove(actor: Actor, id: string): Promise<void>;
}

/** Writes a token that rests on something, and answers its secret. */
type Issue = (
  token: Pick<TokenRecord, 'userId' | 'loggedInAt' | 'sessionId'>,
  basis: TokenBasis,
  lifeSeconds: number,
) => Promise<string>;

/** Browsers that stay logged in: each has a cookie that is replaced whenever it renews a token. */
export function createBrowserSessions(options: {
  readonly credentials: CredentialStore;
  readonly clock: Clock;
  readonly issue: Issue;
}): BrowserSessions {
  const { credentials, clock, issue } = options;

  return {
    async remember({ user, passwordHash }, { name, address }, lifeSeconds) {
      const now = clock.now();
      const cookie = createSecret();
      const session = {
        id: createId(),
        userId: user.id,
        hash: hashSecret(cookie),
        name: name.slice(0, limits.sessionNameCharactersMax),
        address,
        ...{ createdAt: now, lastUsedAt: now, expiresAt: now + limits.sessionMs },
      };
      const basis = { kind: 'password', passwordHash } as const;
      if ((await credentials.insertSession(session, basis, now)) === 'gone') throw ended();
      const token = { userId: user.id, loggedInAt: now, sessionId: session.id };
      const onSession = { kind: 'session', id: session.id } as const;
      return { token: await issue(token, onSession, lifeSeconds), cookie };
    },
    async renewByCookie(cookie, address, lifeSeconds) {
      const now = clock.now();
      const hash = hashSecret(cookie);
      const session = await credentials.findSession(hash);
      if (session === undefined || session.expiresAt <= now) throw ended();
      const { id, userId, replaced } = session;
      const isOld = session.hash !== hash;
      if (isOld && (replaced?.at ?? 0) + limits.sessionGraceMs <= now) throw ended();
      // The use of the cookie counts as a login: what it renews may be renewed for as long.
      const token = { userId, loggedInAt: now, sessionId: id };
      const basis = { kind: 'session', id } as const;
      const next = createSecret();
      const renewal = { hash: hashSecret(next), address, lastUsedAt: now };
      const expiresAt = now + limits.sessionMs;
      const isNext =
        !isOld && (await credentials.renewSession(hash, { ...renewal, expiresAt })) === 'renewed';
      const secret = await issue(token, basis, lifeSeconds);
      return { token: secret, ...(isNext && { cookie: next }) };
    },
    async list(actor) {
      const now = clock.now();
      const all = await credentials.listSessions(requirePerson(actor).userId);
      return all.filter(({ expiresAt }) => expiresAt > now);
    },
    async remove(actor, id) {
      const { userId } = requirePerson(actor);
      if ((await credentials.removeSession(userId, id)) === 'missing') {
        throw notFound(`you have no login with id ${id}`);
      }
    },
  };
}

const ended = () => unauthenticated('this login has ended: log in again');
