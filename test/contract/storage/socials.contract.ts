import assert from 'node:assert/strict';
import { limits } from '../../../src/domain/limits.ts';
import type { Social } from '../../../src/domain/socials/socials.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { aSocial, aUser, noon, socialId, userId, username } from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

async function withAccounts({ users }: Storage): Promise<void> {
  for (const name of ['ana', 'bob', 'cleo']) await users.insert(aUser(name), 'hash');
}

async function idsSeenBy({ socials }: Storage, name?: string): Promise<readonly string[]> {
  const who = name === undefined ? {} : { ofUser: username(name) };
  const listing = await socials.list({ ...who, limit: 1_000, offset: 0 });
  assert.equal(listing.total, listing.socials.length);
  return listing.socials.map(({ id }) => id);
}

const promises: Promises = {
  'a message is found as it was inserted': async ({ socials }) => {
    const sent = { ...aSocial('sent'), message: 'nul\u0000 \ud800 ünï' };
    const failed: Social = { ...aSocial('f'), channel: 'sms', status: 'failed', reason: 'no way' };
    const pending: Social = { ...aSocial('p'), channel: 'voice', status: 'pending' };
    await socials.insert([sent, failed, pending]);
    assert.deepEqual(await socials.find(sent.id), sent);
    assert.deepEqual(await socials.find(failed.id), failed);
    assert.deepEqual(await socials.find(pending.id), pending);
    assert.equal(await socials.find(socialId('constructor')), undefined);
  },

  'whose name has capitals has a turn like others when messages are handed out': async (opened) => {
    const { users, socials, outbox } = opened;
    await users.insert(aUser('Bea'), 'hash');
    const senders = ['ana', 'Bea', 'bob'];
    const pending = { channel: 'webhook', status: 'pending' } as const;
    await socials.insert(
      [...senders, ...senders].map((sender, at) => ({
        ...aSocial(`s${at}`, { sender }),
        ...pending,
      })),
    );
    const claim = {
      now: noon,
      leaseEndsAt: noon + 60_000,
      quotas: new Map([['webhook', 1]] as const),
    };
    const payers: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      payers.push(...(await outbox.claimDue(claim)).claimed.map(({ payer }) => payer));
    }
    assert.deepEqual(payers, [...senders, ...senders]);
  },

  'lists of messages and of accounts count what is left when one goes': async (opened) => {
    const { users, socials } = opened;
    await socials.insert([aSocial('self', { recipient: 'ana' }), aSocial('a', { sender: 'bob' })]);
    await socials.insert([aSocial('b', { sender: 'bob', recipient: 'cleo' }), aSocial('c')]);
    await socials.remove(socialId('c'));
    assert.equal((await users.list({ limit: 0, offset: 0 })).total, 3);
    assert.deepEqual(await idsSeenBy(opened, 'ana'), ['self']);
    await users.remove(userId('id-ana'));
    assert.equal((await users.list({ limit: 0, offset: 0 })).total, 2);
    assert.deepEqual(await idsSeenBy(opened), ['a', 'b']);
    assert.deepEqual(await idsSeenBy(opened, 'ana'), []);
    const page = await socials.list({ ofUser: username('bob'), limit: 1, offset: 1 });
    assert.deepEqual([page.total, ...page.socials.map(({ id }) => id)], [2, 'b']);
  },

  'messages are listed in order of creation, in pages, to sender and recipient': async (opened) => {
    const { socials } = opened;
    await socials.insert([aSocial('z'), aSocial('a', { sender: 'bob', recipient: 'ana' })]);
    await socials.insert([aSocial('m', { sender: 'cleo' })]);
    await socials.insert([aSocial('self', { recipient: 'ana' })]);
    assert.deepEqual(await idsSeenBy(opened), ['z', 'a', 'm', 'self']);
    assert.deepEqual(await idsSeenBy(opened, 'ANA'), ['z', 'a', 'self']);
    assert.deepEqual(await idsSeenBy(opened, 'bob'), ['z', 'a', 'm']);
    assert.deepEqual(await idsSeenBy(opened, 'cleo'), ['m']);
    assert.deepEqual(await idsSeenBy(opened, 'dora'), []);
    const page = await socials.list({ ofUser: username('ana'), limit: 1, offset: 1 });
    assert.deepEqual([page.total, ...page.socials.map(({ id }) => id)], [3, 'a']);
    const end = await socials.list({ limit: 5, offset: 3 });
    assert.deepEqual([end.total, ...end.socials.map(({ id }) => id)], [4, 'self']);
  },

  'a message is removed once': async ({ socials }) => {
    await socials.insert([aSocial('a'), aSocial('b')]);
    assert.equal(await socials.remove(socialId('a')), 'removed');
    assert.equal(await socials.remove(socialId('a')), 'missing');
    assert.equal(await socials.find(socialId('a')), undefined);
    assert.deepEqual(await socials.find(socialId('b')), aSocial('b'));
  },

  'a sender keeps the newest messages up to the limit': async ({ socials }) => {
    await socials.insert([aSocial('of bob', { sender: 'bob', recipient: 'ana' })]);
    const ids = Array.from({ length: limits.socialsPerSenderMax }, (_, index) => `s${index}`);
    await socials.insert(ids.map((id) => aSocial(id)));
    assert.deepEqual(await socials.find(socialId('s0')), aSocial('s0'));
    await socials.insert([aSocial('x'), aSocial('y')]);
    const oldest = ['s0', 's1', 's2'].map((id) => socials.find(socialId(id)));
    assert.deepEqual(await Promise.all(oldest), [undefined, undefined, aSocial('s2')]);
    assert.deepEqual(await socials.find(socialId('y')), aSocial('y'));
    const { total } = await socials.list({ limit: 0, offset: 0 });
    assert.equal(total, limits.socialsPerSenderMax + 1);
  },

  'messages that wait are spared, and their number ends': async ({ socials }) => {
    const waiting = (id: string): Social => ({ ...aSocial(id), channel: 'sms', status: 'pending' });
    assert.equal(await socials.insert([waiting('w0')]), 'inserted');
    const max = limits.socialsPendingPerSenderMax;
    const tooMany = Array.from({ length: max }, (_, index) => waiting(`t${index}`));
    assert.equal(await socials.insert(tooMany), 'too_many');
    assert.equal(await socials.find(socialId('t0')), undefined);
    const ids = Array.from({ length: limits.socialsPerSenderMax + 1 }, (_, index) => `s${index}`);
    assert.equal(await socials.insert(ids.map((id) => aSocial(id))), 'inserted');
    assert.deepEqual(await socials.find(socialId('w0')), waiting('w0'));
    assert.equal(await socials.find(socialId('s0')), undefined);
  },

  'messages go with the account of their sender or recipient': async (opened) => {
    const { socials, users } = opened;
    await socials.insert([
      aSocial('ana to bob'),
      aSocial('bob to ana', { sender: 'bob', recipient: 'ana' }),
    ]);
    await socials.insert([aSocial('ana to cleo', { recipient: 'cleo' })]);
    await socials.insert([aSocial('cleo to bob', { sender: 'cleo' })]);
    await users.remove(userId('id-bob'));
    assert.deepEqual(await idsSeenBy(opened), ['ana to cleo']);
    await users.insert(aUser('bob'), 'hash');
    assert.deepEqual(await idsSeenBy(opened, 'bob'), []);
  },

  'a message whose sender or recipient ended meanwhile is not kept': async (opened) => {
    const { socials, users } = opened;
    await users.remove(userId('id-bob'));
    const toCleo = aSocial('ana to cleo', { recipient: 'cleo' });
    await socials.insert([aSocial('to bob'), aSocial('from bob', { sender: 'bob' }), toCleo]);
    assert.deepEqual(await idsSeenBy(opened), ['ana to cleo']);
  },
};

/** What every engine promises of social messages. */
export function socialsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, withAccounts);
}
