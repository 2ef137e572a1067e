import type { Clock, Instant } from '../../lib/clock.ts';
import { createId, createSecret, hashSecret } from '../../lib/secret-token.ts';
import type { GrantStore } from '../access/grant.ts';
import type { Access } from '../access/policy.ts';
import type { Resource, ResourceKind, Scope } from '../access/scopes.ts';
import { type Actor, type Person, personOf } from '../actor.ts';
import { DomainError, gone, invalid, notFound, unauthenticated } from '../errors.ts';
import { type GroupStore, groupFull, requireGroup } from '../groups/groups.ts';
import {
  type GroupId,
  type InvitationId,
  parseInvitationId,
  sameUsername,
  type UserId,
} from '../ids.ts';
import { limits } from '../limits.ts';
import type { Listing, ListPart } from '../listing.ts';
import { requirePerson } from '../users/account-access.ts';
import type { User, UserStore } from '../users/user.ts';
import { createRequireShareable, inOrder, requireRoom } from './sharing.ts';

const day = 24 * 3_600_000;

/** Every limit of invitations, with its unit in its name and its reason beside it. */
export const invitationLimits = {
  /** Open invitations of one account, and as many that are over. */
  invitationsPerUserMax: 100,
  /** Accounts that one invitation lets in: a large school. */
  invitationUsesMax: 1_000,
  /** How long one lives for which nothing else is said. */
  invitationMsUsual: 7 * day,
  /** Devices of one invitation: their ids are kept, 256 bytes each at most. */
  invitationDevicesMax: 100,
  /** A longer text is no token of ours, and is not searched for. */
  invitationTokenCharactersMax: 64,
} as const;

/** A thing that an invitation leads to: a device or project with rights, or a group. */
export type InvitationTarget =
  | {
      readonly kind: Extract<ResourceKind, 'device' | 'project'>;
      readonly resource: string;
      /** In the order of `grantableOn`, never empty. */
      readonly scopes: readonly Scope[];
    }
  | { readonly kind: 'group'; readonly resource: GroupId };

/** A link by which others join what its giver may share; kept without its secret. */
export interface Invitation {
  readonly id: InvitationId;
  /** Of the secret in the link. */
  readonly hash: string;
  readonly giver: UserId;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly usesLeft: number;
  readonly isRevoked: boolean;
  readonly targets: readonly InvitationTarget[];
}

/** An account that took a use of an invitation, and whether it was given what that leads to. */
export interface TakenUse {
  readonly user: UserId;
  readonly isGiven: boolean;
}

/** An invitation with the account of its giver, as it is now. */
export interface GivenInvitation extends Invitation {
  readonly by: Pick<User, 'username' | 'isAdmin' | 'isDisabled'>;
}

/**
 * Whether an account may have what an invitation gives: `taken` by it now, `unfinished`: taken
 * before, and not recorded as given since, `given`: had before, `over`: no use is left.
 */
export type InvitationUse = 'taken' | 'unfinished' | 'given' | 'over';

/** Where invitations are kept. They go with the accounts of their givers. */
export interface InvitationStore {
  /**
   * too_many: the giver has `invitationsPerUserMax` open ones; gone: there is no such account that
   * is not disabled. Of those that are over, as many are kept, the newest. `uses` come from another
   * installation; those of accounts that are not here are left out.
   */
  insert(
    invitation: Invitation,
    uses?: readonly TakenUse[],
  ): Promise<'inserted' | 'too_many' | 'gone'>;
  /** Also those that are over or revoked. */
  find(hash: string): Promise<GivenInvitation | undefined>;
  /** Invitations of a giver that were not revoked, the newest first. */
  list(giver: UserId, page: ListPart): Promise<Listing<'invitations', Invitation>>;
  revoke(giver: UserId, id: InvitationId): Promise<'removed' | 'missing'>;
  /** Accounts that took a use. */
  usesOf(id: InvitationId): Promise<readonly TakenUse[]>;
  /** Takes one of the uses for this account; twice by one account counts once. */
  take(id: InvitationId, user: UserId, now: Instant): Promise<InvitationUse>;
  /** Records that the account has what the invitation gives. */
  finish(id: InvitationId, user: UserId): Promise<void>;
}

export interface NewInvitation {
  readonly targets: readonly InvitationTarget[];
  /** Absent: in a week. */
  readonly expiresAt?: Instant;
  /** Accounts that it lets in. */
  readonly uses: number;
}

/** A thing of an invitation with its name, and whether the giver still may share it. */
interface NamedTarget {
  readonly target: InvitationTarget;
  readonly name: string;
}

/** Details of an invitation that a guest may know. */
export interface OfferedInvitation {
  readonly invitation: Invitation;
  readonly by: { readonly username: string; readonly name?: string };
  readonly targets: readonly NamedTarget[];
}

/** Stores that accepting an invitation changes. */
interface Giving {
  readonly grants: GrantStore;
  readonly groups: GroupStore;
}

/** Links by which others, with an account or not yet, join what their giver may share. */
export function createInvitations(
  options: Giving & {
    readonly store: InvitationStore;
    readonly users: UserStore;
    readonly access: Access;
    readonly clock: Clock;
    /** The device, gateway or project with this id. Throws invalid, not_found. */
    readonly findResource: (kind: ResourceKind, id: string) => Promise<Resource>;
    readonly nameOf: (kind: ResourceKind, id: string) => Promise<string>;
  },
) {
  const { store, users, groups, clock } = options;
  const requireShareable = createRequireShareable(options);

  async function requireTarget(giver: Actor, target: InvitationTarget): Promise<string[]> {
    if (target.kind === 'group') {
      await requireGroup(groups, giver, target.resource);
      return [];
    }
    const { owner } = await requireShareable(giver, target.kind, target.resource);
    return [owner];
  }

  /** Whether the giver may share this now, and it is what the invitation was made for. */
  async function isShareable(giver: Actor, target: InvitationTarget, madeAt: Instant) {
    try {
      await requireTarget(giver, target);
      if (target.kind === 'group') return true;
      const { createdAt } = await options.findResource(target.kind, target.resource);
      return createdAt === undefined || createdAt <= madeAt;
    } catch (error) {
      if (error instanceof DomainError && refusedSharing.has(error.code)) return false;
      throw error;
    }
  }

  /** An invitation that lets an account in, with those of its targets that are left. */
  async function requireOpen(
    secret: string,
  ): Promise<{ invitation: GivenInvitation; targets: readonly InvitationTarget[] }> {
    const isPossible = secret.length <= invitationLimits.invitationTokenCharactersMax;
    const invitation = isPossible ? await store.find(hashSecret(secret)) : undefined;
    if (invitation === undefined) throw notFound('there is no such invitation');
    if (invitation.isRevoked) throw gone('this invitation was revoked: ask for another one');
    if (invitation.expiresAt <= clock.now()) {
      throw gone('this invitation has expired: ask for another one');
    }
    const targets: InvitationTarget[] = [];
    if (!invitation.by.isDisabled) {
      const giver = actorOf(invitation);
      for (const target of invitation.targets) {
        if (await isShareable(giver, target, invitation.createdAt)) targets.push(target);
      }
    }
    if (targets.length > 0) return { invitation, targets };
    throw gone('this invitation has ended: its giver may no longer share it');
  }

  const nameOf = async (target: InvitationTarget): Promise<string> =>
    target.kind === 'group'
      ? ((await groups.find(target.resource))?.name ?? '')
      : options.nameOf(target.kind, target.resource);

  return {
    /** The answer holds the secret of the link, shown this once and kept only as a hash. */
    async create(
      actor: Actor,
      { targets, uses, expiresAt }: NewInvitation,
    ): Promise<{ readonly invitation: Invitation; readonly secret: string }> {
      const giver = requirePerson(actor);
      const createdAt = clock.now();
      const until = expiresAt ?? createdAt + invitationLimits.invitationMsUsual;
      if (until <= createdAt) throw invalid('expires must be in the future');
      if (targets.length === 0) throw invalid('name devices, a group or a project to invite to');
      for (const target of targets) await requireTarget(actor, target);
      const secret = createSecret();
      const invitation: Invitation = {
        id: parseInvitationId(createId()),
        hash: hashSecret(secret),
        giver: giver.userId,
        ...{ createdAt, expiresAt: until, usesLeft: uses, isRevoked: false, targets },
      };
      const outcome = await store.insert(invitation);
      if (outcome === 'gone') throw unauthenticated('this account is gone or disabled');
      if (outcome === 'inserted') return { invitation, secret };
      const max = invitationLimits.invitationsPerUserMax;
      throw new DomainError('limit_reached', `you have ${max} open invitations: revoke one first`);
    },
    /** Invitations of the actor that were not revoked, the newest first. */
    list: async (actor: Actor, page: ListPart) => store.list(requirePerson(actor).userId, page),
    async revoke(actor: Actor, id: InvitationId): Promise<void> {
      const { userId } = requirePerson(actor);
      if ((await store.revoke(userId, id)) === 'missing') {
        throw notFound(`you have no invitation with id ${id}`);
      }
    },
    /** Throws not_found for a secret that was never given, gone for one that is over. */
    async at(secret: string): Promise<OfferedInvitation> {
      const { invitation, targets } = await requireOpen(secret);
      if (invitation.usesLeft === 0) throw usedUp();
      const user = await users.find(invitation.giver);
      const { firstName, lastName } = user?.profile ?? {};
      const name = [firstName, lastName].filter((part) => part !== undefined).join(' ');
      const named: NamedTarget[] = [];
      for (const target of targets) named.push({ target, name: await nameOf(target) });
      const by = { username: invitation.by.username, ...(name !== '' && { name }) };
      return { invitation, by, targets: named };
    },
    /**
     * Gives the actor what the invitation leads to, beside what it has already; of several things
     * those that the giver still may share. Twice by one account counts once.
     */
    async accept(actor: Actor, secret: string): Promise<readonly InvitationTarget[]> {
      const person = requirePerson(actor);
      const { invitation, targets } = await requireOpen(secret);
      const lacking = await targetsLacking(person, targets, (target) =>
        requireTarget(actorOf(invitation), target),
      );
      // An owner of all targets, as the giver may be, takes no use away from others.
      if (lacking.length === 0) return targets;
      const use = await store.take(invitation.id, person.userId, clock.now());
      if (use === 'over') throw usedUp();
      if (use === 'given') return givenOf(options, person, lacking);
      for (const target of lacking) await give(options, person, target);
      await store.finish(invitation.id, person.userId);
      return lacking;
    },
  };
}
export type Invitations = ReturnType<typeof createInvitations>;
const refusedSharing: ReadonlySet<string> = new Set(['forbidden', 'not_found', 'invalid']);
const usedUp = (): DomainError => gone('this invitation was used up: ask for another one');
/** The giver as it is now: without its account's keys, which may be narrower. */
const actorOf = ({ giver: id, by }: GivenInvitation): Person => personOf({ ...by, id });

/** Targets that are not the person's own. */
async function targetsLacking(
  person: Person,
  targets: readonly InvitationTarget[],
  ownersOf: (target: InvitationTarget) => Promise<readonly string[]>,
): Promise<readonly InvitationTarget[]> {
  const lacking: InvitationTarget[] = [];
  for (const target of targets) {
    const owners = await ownersOf(target);
    if (!owners.some((owner) => sameUsername(owner, person.username))) lacking.push(target);
  }
  return lacking;
}

/** Gives one thing, beside what the person may do with it already. */
async function give(
  { grants, groups }: Giving,
  { username }: Person,
  target: InvitationTarget,
): Promise<void> {
  if (target.kind === 'group') {
    const { groupMembersMax: membersMax } = limits;
    const change = { out: [], in: [username], membersMax } as const;
    const outcome = await groups.changeMembers(target.resource, change);
    if (outcome === 'too_many') throw groupFull();
    if (outcome !== 'updated') throw notFound('the group or the user was deleted meanwhile');
    return;
  }
  const { kind, resource } = target;
  const present = await grants.listOn(kind, resource);
  const own = present.find((grant) => sameUsername(grant.username, username));
  if (own === undefined) requireRoom(kind, present.length);
  const scopes = inOrder(kind, [...(own?.scopes ?? []), ...target.scopes]);
  const outcome = await grants.put({ kind, resource, username, scopes });
  if (outcome === 'missing') throw notFound(`the ${kind} or the user was deleted meanwhile`);
}

/** Targets that an account was given and still has: their owner may have taken them back. */
async function givenOf(
  { grants, groups }: Giving,
  { username }: Person,
  targets: readonly InvitationTarget[],
): Promise<readonly InvitationTarget[]> {
  const left: InvitationTarget[] = [];
  for (const target of targets) {
    if (target.kind === 'group') {
      const members = (await groups.find(target.resource))?.usernames ?? [];
      if (members.some((member) => sameUsername(member, username))) left.push(target);
      continue;
    }
    const held: readonly Scope[] = await grants.find(target.kind, target.resource, username);
    const scopes = target.scopes.filter((scope) => held.includes(scope));
    if (scopes.length > 0) left.push({ ...target, scopes });
  }
  if (left.length > 0) return left;
  throw gone('this invitation has ended: what it gave you was taken back');
}
