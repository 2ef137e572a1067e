import assert from 'node:assert/strict';
import type { InvitationId } from '../../../src/domain/ids.ts';
import { type Invitation, invitationLimits } from '../../../src/domain/sharing/invitations.ts';
import { aUser, noon, userId } from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const [ana, bob, eve] = [userId('id-ana'), userId('id-bob'), userId('id-eve')];
const invitationId = (text: string) => text as InvitationId;

const anInvitation = (id: string, fields: Partial<Invitation> = {}): Invitation => ({
  id: invitationId(id),
  hash: `hash of ${id}`,
  giver: ana,
  createdAt: noon,
  expiresAt: noon + 10,
  usesLeft: 1,
  isRevoked: false,
  targets: [{ kind: 'device', resource: 'd', scopes: ['devices:view'] }],
  ...fields,
});

const page = { limit: 500, offset: 0 };

const promises: Promises = {
  'an invitation is found by its hash, with who gave it': async ({ invitations, users }) => {
    const invitation = anInvitation('i');
    assert.equal(await invitations.insert(invitation), 'inserted');
    const by = { username: 'ana', isAdmin: false, isDisabled: false };
    assert.deepEqual(await invitations.find('hash of i'), { ...invitation, by });
    assert.equal(await invitations.find('constructor'), undefined);
    await users.update(ana, { isDisabled: true });
    assert.equal((await invitations.find('hash of i'))?.by.isDisabled, true);
    assert.equal(await invitations.insert(anInvitation('j')), 'gone');
    await users.remove(ana);
    assert.equal(await invitations.find('hash of i'), undefined);
    assert.equal(await invitations.insert(anInvitation('k')), 'gone');
  },

  'a use is for one account, once, and none is left after the last': async ({ invitations }) => {
    await invitations.insert(anInvitation('i'));
    const id = invitationId('i');
    assert.equal(await invitations.take(invitationId('other'), bob, noon), 'over');
    assert.equal(await invitations.take(id, userId('id-nobody'), noon), 'over');
    const racing = [bob, eve].map((user) => invitations.take(id, user, noon));
    assert.deepEqual((await Promise.all(racing)).sort(), ['over', 'taken']);
    const [winner, loser] = (await racing[0]) === 'taken' ? [bob, eve] : [eve, bob];
    assert.equal(await invitations.take(id, winner, noon + 20), 'unfinished');
    await invitations.finish(id, winner);
    await invitations.finish(id, loser);
    assert.equal(await invitations.take(id, winner, noon + 20), 'given');
    assert.equal(await invitations.take(id, loser, noon), 'over');
    assert.equal((await invitations.find('hash of i'))?.usesLeft, 0);
  },

  'who took an invitation is told, and comes with it from elsewhere': async ({ invitations }) => {
    await invitations.insert(anInvitation('i', { usesLeft: 3 }));
    assert.deepEqual(await invitations.usesOf(invitationId('i')), []);
    for (const user of [eve, bob]) await invitations.take(invitationId('i'), user, noon);
    await invitations.finish(invitationId('i'), eve);
    const uses = [
      { user: bob, isGiven: false },
      { user: eve, isGiven: true },
    ];
    assert.deepEqual(await invitations.usesOf(invitationId('i')), uses);
    const gone = { user: userId('id-nobody'), isGiven: true };
    await invitations.insert(anInvitation('j'), [...uses, gone]);
    assert.deepEqual(await invitations.usesOf(invitationId('j')), uses);
    assert.equal(await invitations.take(invitationId('j'), eve, noon), 'given');
    assert.equal(await invitations.take(invitationId('j'), bob, noon), 'unfinished');
    assert.equal((await invitations.find('hash of j'))?.usesLeft, 1);
  },

  'nobody takes what has expired or was revoked': async ({ invitations }) => {
    await invitations.insert(anInvitation('old', { expiresAt: noon + 5, usesLeft: 2 }));
    assert.equal(await invitations.take(invitationId('old'), bob, noon + 5), 'over');
    await invitations.insert(anInvitation('i', { usesLeft: 2 }));
    assert.equal(await invitations.revoke(bob, invitationId('i')), 'missing');
    assert.equal(await invitations.revoke(ana, invitationId('i')), 'removed');
    assert.equal(await invitations.revoke(ana, invitationId('i')), 'missing');
    assert.equal(await invitations.take(invitationId('i'), bob, noon), 'over');
    assert.equal((await invitations.find('hash of i'))?.isRevoked, true);
  },

  'those of a giver are listed, the newest first': async ({ invitations }) => {
    for (const id of ['a', 'b', 'c']) await invitations.insert(anInvitation(id));
    await invitations.insert(anInvitation('of bob', { giver: bob }));
    await invitations.revoke(ana, invitationId('b'));
    const ids = async (limit: number, offset: number) => {
      const { invitations: found, total } = await invitations.list(ana, { limit, offset });
      return [total, ...found.map(({ id }) => id)];
    };
    assert.deepEqual(await ids(10, 0), [2, 'c', 'a']);
    assert.deepEqual(await ids(1, 1), [2, 'a']);
    assert.deepEqual(await invitations.list(eve, page), { invitations: [], total: 0 });
  },

  'the open ones of an account have an end, and those that are over, too': async (storage) => {
    const { invitations } = storage;
    const max = invitationLimits.invitationsPerUserMax;
    const insert = (name: string, count: number, fields: Partial<Invitation>) =>
      Promise.all(
        Array.from({ length: count }, (_, n) =>
          invitations.insert(anInvitation(`${name} ${n}`, fields)),
        ),
      );
    await insert('open', max, { expiresAt: noon + 10 });
    assert.equal(await invitations.insert(anInvitation('more')), 'too_many');
    assert.equal(await invitations.insert(anInvitation('of bob', { giver: bob })), 'inserted');
    const later = { createdAt: noon + 10, expiresAt: noon + 20 };
    assert.deepEqual(await insert('new', 3, later), ['inserted', 'inserted', 'inserted']);
    await invitations.revoke(ana, invitationId('new 1'));
    await insert('last', 1, later);
    const { total } = await invitations.list(ana, page);
    assert.equal(total, max - 1 + 3, 'the oldest that was over is gone');
    assert.equal(await invitations.find('hash of open 0'), undefined);
    assert.equal((await invitations.find('hash of new 1'))?.isRevoked, true);
  },
};

export function invitationsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, async ({ users }) => {
    for (const name of ['ana', 'bob', 'eve']) await users.insert(aUser(name), 'hash');
  });
}
