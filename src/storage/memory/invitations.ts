import type { InvitationId } from '../../domain/ids.ts';
import type { Invitation } from '../../domain/sharing/invitation.ts';
import { invitationLimits } from '../../domain/sharing/invitation-limits.ts';
import type { InvitationStore } from '../../domain/sharing/invitation-store.ts';
import type { MemoryState } from './memory-state.ts';

/** Invitations in memory. */
export function createInvitationStore({ users }: MemoryState): InvitationStore {
  const invitations = new Map<InvitationId, Invitation>();
  /** By invitation and account: whether what it gives was given. */
  const uses = new Map<string, boolean>();
  const isOpen = (invitation: Invitation, now: number): boolean =>
    !invitation.isRevoked && invitation.usesLeft > 0 && invitation.expiresAt > now;
  const given = (invitation: Invitation | undefined): Invitation | undefined =>
    invitation !== undefined && users.has(invitation.giver) ? invitation : undefined;
  const of = (giver: Invitation['giver']): Invitation[] =>
    [...invitations.values()].filter((invitation) => invitation.giver === giver).reverse();

  return {
    async insert(invitation) {
      const { id, giver, createdAt: now } = invitation;
      if (users.get(giver)?.user.isDisabled !== false) return 'gone';
      const max = invitationLimits.invitationsPerUserMax;
      if (of(giver).filter((one) => isOpen(one, now)).length >= max) return 'too_many';
      invitations.set(id, invitation);
      const over = of(giver).filter((one) => !isOpen(one, now));
      for (const old of over.slice(max)) invitations.delete(old.id);
      return 'inserted';
    },
    async find(hash) {
      const found = given([...invitations.values()].find((one) => one.hash === hash));
      const user = found && users.get(found.giver)?.user;
      if (found === undefined || user === undefined) return undefined;
      const { username, isAdmin, isDisabled } = user;
      return { ...found, by: { username, isAdmin, isDisabled } };
    },
    async list(giver, { limit, offset }) {
      const all = users.has(giver) ? of(giver).filter(({ isRevoked }) => !isRevoked) : [];
      return { invitations: all.slice(offset, offset + limit), total: all.length };
    },
    async revoke(giver, id) {
      const found = given(invitations.get(id));
      if (found === undefined || found.giver !== giver || found.isRevoked) return 'missing';
      invitations.set(id, { ...found, isRevoked: true });
      return 'removed';
    },
    async take(id, user, now) {
      const found = given(invitations.get(id));
      if (found === undefined || !users.has(user)) return 'over';
      const use = JSON.stringify([id, user]);
      const isGiven = uses.get(use);
      if (isGiven !== undefined) return isGiven ? 'given' : 'unfinished';
      if (!isOpen(found, now)) return 'over';
      invitations.set(id, { ...found, usesLeft: found.usesLeft - 1 });
      uses.set(use, false);
      return 'taken';
    },
    async finish(id, user) {
      const use = JSON.stringify([id, user]);
      if (uses.has(use)) uses.set(use, true);
    },
  };
}
