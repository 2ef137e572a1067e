import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noon } from '../../../test/contract/storage/builders.ts';
import { openServiceStorage } from '../../../test/service-storage.ts';
import { type Actor, guest, guestAt } from '../actor.ts';
import { createGuestShares, makeWithin } from '../budgets/guest-shares.ts';
import { createGateways } from '../gateways/gateways.ts';
import { type GatewayId, guestUsername, parseUserId, parseUsername } from '../ids.ts';
import { limits } from '../limits.ts';
import { createProjects } from './projects.ts';

const ama: Exclude<Actor, { kind: 'guest' }> = {
  kind: 'user',
  userId: parseUserId('1'),
  username: parseUsername('ama'),
};

/** Services over stores that say how many things the guest owns, or somebody else. */
async function withGuestOwning(
  count: { gateways: number; projects: number },
  whose: string = guestUsername,
) {
  const { storage, access } = await openServiceStorage();
  const { gateways, projects, users, grants } = storage;
  const store = {
    ...gateways,
    countOwnedBy: async (owner: string) => (owner === whose ? count.gateways : 0),
  };
  return {
    gateways: createGateways({ store, users, grants, access, clock: { now: () => noon } }),
    projects: createProjects({
      store: {
        ...projects,
        countOwnedBy: async (owner: string) => (owner === whose ? count.projects : 0),
      },
      grants,
      access,
    }),
  };
}

const empty = { deviceIds: [], gatewayIds: [] };

test('the gateways and projects of the guest have an end, from which people go on', async () => {
  const full = { gateways: limits.guestGatewaysMax, projects: limits.guestProjectsMax };
  const { gateways, projects } = await withGuestOwning(full);
  const refusal = { code: 'unavailable', message: /log in to add yours/ };
  await assert.rejects(gateways.create(guest, { id: 'g' as GatewayId }), refusal);
  await assert.rejects(projects.create(guest, empty), refusal);
  await gateways.create(ama, { id: 'g' as GatewayId });
  await projects.create(ama, empty);
});

test('the gateways and projects of an account have an end', async () => {
  const full = { gateways: limits.gatewaysPerUserMax, projects: limits.projectsPerUserMax };
  const { gateways, projects } = await withGuestOwning(full, ama.username);
  const refusal = { code: 'limit_reached', message: /^no room for more .+ delete one/ };
  await assert.rejects(gateways.create(ama, { id: 'g' as GatewayId }), refusal);
  await assert.rejects(projects.create(ama, empty), refusal);
  const other = { ...ama, username: parseUsername('kofi') };
  await gateways.create(other, { id: 'g' as GatewayId });
  const importing: Actor = { ...ama, kind: 'admin', isImporting: true };
  await gateways.create(importing, { id: 'h' as GatewayId });
});

test('a gateway that exists is a conflict at the limit, too', async () => {
  const conflict = { code: 'conflict', message: /is taken/ };
  const count = { gateways: 0, projects: 0 };
  for (const [actor, max] of [
    [ama, limits.gatewaysPerUserMax],
    [guest, limits.guestGatewaysMax],
  ] as const) {
    count.gateways = 0;
    const whose = actor.kind === 'guest' ? guestUsername : actor.username;
    const { gateways } = await withGuestOwning(count, whose);
    await gateways.create(actor, { id: 'g' as GatewayId });
    count.gateways = max;
    await assert.rejects(gateways.create(actor, { id: 'g' as GatewayId }), conflict);
  }
});

test('the last gateway and project before that end are made', async () => {
  const { gateways, projects } = await withGuestOwning({
    gateways: limits.guestGatewaysMax - 1,
    projects: limits.guestProjectsMax - 1,
  });
  await gateways.create(guest, { id: 'g' as GatewayId });
  const id = await projects.create(guest, empty);
  assert.equal((await projects.get(guest, id)).owner, guestUsername);
});

test('guests at one address make half of what all guests may have, others go on', async () => {
  const { gateways, projects } = await withGuestOwning({
    gateways: limits.guestGatewaysMax - 1,
    projects: limits.guestProjectsMax - 1,
  });
  const [one, other] = [guestAt('192.0.2.1'), guestAt('192.0.2.2')];
  for (let at = 0; at < limits.guestGatewaysMax / 2; at += 1) {
    await gateways.create(one, { id: `g${at}` as GatewayId });
  }
  for (let at = 0; at < limits.guestProjectsMax / 2; at += 1) await projects.create(one, empty);
  const refusal = { code: 'limit_reached', message: /guests at your address/ };
  await assert.rejects(gateways.create(one, { id: 'more' as GatewayId }), refusal);
  await assert.rejects(projects.create(one, empty), refusal);
  await gateways.create(other, { id: 'more' as GatewayId });
  await projects.create(other, empty);
});

test('what could not be made does not count for the address', async () => {
  const shares = createGuestShares();
  const one = guestAt('192.0.2.1');
  const room = { shares, what: 'things', max: 4, store: { countOwnedBy: async () => 2 } };
  const failing = async (): Promise<string> => {
    throw new Error('the disk is full');
  };
  for (let at = 0; at < 3; at += 1) {
    await assert.rejects(makeWithin(room, one, failing), /the disk is full/);
  }
  assert.equal(await makeWithin(room, one, async () => 'inserted'), 'inserted');
});
