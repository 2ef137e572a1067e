import type { Clock, Instant } from '../../lib/clock.ts';
import { createId } from '../../lib/secret-token.ts';
import type { Actor, Person } from '../actor.ts';
import { DomainError, forbidden, invalid, notFound } from '../errors.ts';
import { parseSocialId, type SocialId, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Listing, ListPart } from '../listing.ts';
import { requirePerson } from '../users/account-access.ts';
import type { UserStore } from '../users/user.ts';

/** The channels to a user; `none` keeps the message and sends nothing [contract 5, 7]. */
export const channels = ['twitter', 'sms', 'voice', 'email', 'webhook', 'none'] as const;
export type SocialChannel = (typeof channels)[number];

/** The key that names the provider of a channel [contract 1]. */
const keyOf: Readonly<Partial<Record<SocialChannel, string>>> = {
  twitter: 'KIPIMO_TWITTER_URL',
  sms: 'KIPIMO_SMS_URL',
  voice: 'KIPIMO_VOICE_URL',
  email: 'KIPIMO_SMTP_URL',
};

/** Why a channel leads nowhere, with the key to set [contract 7]. */
export function notConfigured(channel: SocialChannel): string {
  const key = keyOf[channel];
  const remedy = key === undefined ? '' : `: ${key} names its provider`;
  return `the channel ${channel} is not configured${remedy}`;
}

/** How far a message came. */
type SocialState =
  | { readonly status: 'pending' | 'sent' }
  | { readonly status: 'failed'; readonly reason: string };

/** A message from one user to one user on one channel. */
export type Social = SocialState & {
  readonly id: SocialId;
  readonly sender: Username;
  readonly recipient: Username;
  readonly channel: SocialChannel;
  readonly message: string;
  readonly createdAt: Instant;
};

type SocialListing = Listing<'socials', Social>;

/** Where social messages are kept. Lists are in order of creation. */
export interface SocialStore {
  /**
   * Keeps the messages, all in one step, and then drops the oldest of a sender who has more than
   * socialsPerSenderMax, those that wait to be sent spared. too_many: with these more than
   * socialsPendingPerSenderMax of a sender would wait, and none is kept. One whose
   * sender or recipient ended meanwhile is not kept.
   */
  insert(socials: readonly Social[]): Promise<'inserted' | 'too_many'>;
  find(id: SocialId): Promise<Social | undefined>;
  /** `ofUser` narrows to what this user sent or received. */
  list(page: ListPart & { readonly ofUser?: Username }): Promise<SocialListing>;
  remove(id: SocialId): Promise<'removed' | 'missing'>;
}

/** A text for each of these users on each of these channels. */
export interface NewSocials {
  /** As the client wrote them, in any case. */
  readonly usernames: readonly string[];
  readonly channels: readonly SocialChannel[];
  readonly message: string;
}

/** Messages between users, seen by sender, recipient and admins; neither by guests nor by keys. */
export function createSocials(options: {
  readonly store: SocialStore;
  readonly users: Pick<UserStore, 'findByUsername'>;
  readonly clock: Clock;
  /** The channels that lead somewhere. */
  readonly configured: ReadonlySet<SocialChannel>;
  /** Called when messages wait to be sent. */
  readonly onFiled?: () => void;
}) {
  const { store, users, clock, configured } = options;

  async function requireRecipient(text: string): Promise<Username> {
    const user = await users.findByUsername(text);
    if (user === undefined) throw notFound(`there is no user ${text}`);
    return user.username;
  }

  async function requireSocial(id: SocialId): Promise<Social> {
    const social = await store.find(id);
    if (social === undefined) throw noSocial(id);
    return social;
  }

  return {
    /** Files one message per user and channel, all or none, and answers their ids. */
    async send(
      actor: Actor,
      { usernames, message, ...asked }: NewSocials,
    ): Promise<readonly SocialId[]> {
      const { username: sender } = requirePerson(actor);
      const channels = [...new Set(asked.channels)];
      requireFewEnough(usernames.length * channels.length);
      const recipients = new Set(await Promise.all(usernames.map(requireRecipient)));
      const createdAt = clock.now();
      const socials = [...recipients].flatMap((recipient) =>
        channels.map((channel): Social => {
          const id = parseSocialId(createId());
          const state = stateOnFiling(channel, configured);
          return { id, sender, recipient, channel, message, createdAt, ...state };
        }),
      );
      if ((await store.insert(socials)) === 'too_many') {
        throw new DomainError('unavailable', 'too many of your messages wait to be sent', {
          retryAfterSeconds: 60,
        });
      }
      options.onFiled?.();
      return socials.map(({ id }) => id);
    },
    /** The message, if the actor may see it. Throws not_found, forbidden. */
    async get(actor: Actor, id: SocialId): Promise<Social> {
      const person = requirePerson(actor);
      const social = await requireSocial(id);
      if (mayRemove(person, social) || person.username === social.recipient) return social;
      throw forbidden('only its sender, its recipient or an admin may see this message');
    },
    /** Messages that the actor sent or received; all for an admin. */
    async list(actor: Actor, page: ListPart): Promise<SocialListing> {
      const { kind, username } = requirePerson(actor);
      return store.list(kind === 'admin' ? page : { ...page, ofUser: username });
    },
    /** Deletes a message; for its sender and admins. */
    async remove(actor: Actor, id: SocialId): Promise<void> {
      const person = requirePerson(actor);
      if (!mayRemove(person, await requireSocial(id))) {
        throw forbidden('only its sender or an admin may delete this message');
      }
      if ((await store.remove(id)) === 'missing') throw noSocial(id);
    },
  };
}
export type Socials = ReturnType<typeof createSocials>;

function requireFewEnough(count: number): void {
  if (count <= limits.socialsPerBatchMax) return;
  throw invalid(
    `usernames times channels must be at most ${limits.socialsPerBatchMax}, got ${count}`,
  );
}

const mayRemove = ({ kind, username }: Person, { sender }: Social): boolean =>
  kind === 'admin' || username === sender;

const noSocial = (id: SocialId) => notFound(`there is no message with id ${id}`);

function stateOnFiling(
  channel: SocialChannel,
  configured: ReadonlySet<SocialChannel>,
): SocialState {
  if (channel === 'none') return { status: 'sent' };
  if (configured.has(channel)) return { status: 'pending' };
  return { status: 'failed', reason: notConfigured(channel) };
}
