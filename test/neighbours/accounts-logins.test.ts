import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwordOf } from '../service.ts';
import { type Neighbourhood, startNeighbourhood } from './neighbours.ts';

const credentials = (username: string, password: string) => ({ username, password });

const from = (address: string) => ({ 'x-forwarded-for': address });

/** Tries to log in with a wrong password, as from that address; the status. */
async function guess(town: Neighbourhood, username: string, address: string): Promise<number> {
  const json = credentials(username, 'a wrong password');
  const request = { method: 'POST', path: '/auth/token', json, headers: from(address) };
  return (await town.call(request)).status;
}

test('invented names and wrong passwords lock nobody out who logged in before', async () => {
  await using town = await startNeighbourhood();
  await town.attack(async () => {
    const statuses: number[] = [];
    for (let name = 0; name < 110; name += 1) {
      // What a header says of its sender counts for nothing where no proxy is trusted.
      statuses.push(await guess(town, `nobody-${name}`, `192.0.2.${name}`));
    }
    for (let count = 0; count < 12; count += 1) await guess(town, 'honest', '192.0.2.1');
    assert.ok(statuses.includes(429), 'the guesser is slowed down');
  });
});

test('guessers behind a proxy lock nobody out who comes by the same proxy', async () => {
  const environment = { KIPIMO_TRUSTED_PROXIES: '127.0.0.1,::1' };
  await using town = await startNeighbourhood({ environment });
  const ama = credentials('ama', passwordOf('ama'));
  const made = await town.call({ method: 'POST', path: '/users', json: ama });
  assert.equal(made.status, 200, made.text);
  await town.attack(async () => {
    for (let name = 0; name < 110; name += 1) {
      await guess(town, `nobody-${name}`, `192.0.2.${1 + (name % 20)}`);
    }
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      statuses.push(await guess(town, 'ama', '192.0.2.66'));
    }
    assert.equal(statuses.at(-1), 429, 'the guesser is slowed down');
    // Nobody at this address has logged in before.
    const login = { method: 'POST', path: '/auth/token', json: ama, headers: from('198.51.100.7') };
    const { status, text } = await town.call(login);
    assert.equal(status, 200, `she was locked out: ${text}`);
  });
});

test('sign-ups at once leave room for logins', async () => {
  await using town = await startNeighbourhood();
  await town.attack(async () => {
    const names = Array.from({ length: 340 }, (_, index) => `crowd-${index}`);
    const replies = await Promise.all(
      names.map((name) =>
        town.call({ method: 'POST', path: '/users', json: credentials(name, passwordOf(name)) }),
      ),
    );
    for (const { status, text } of replies) assert.ok([200, 429, 503].includes(status), text);
    const late = replies.filter(({ text }) => text.includes('too many accounts were made'));
    assert.ok(late.length > 10, `${late.length} were told that their address made too many`);
  });
});

test('no token outlives a new password, however fast it is renewed', async () => {
  await using town = await startNeighbourhood();
  const admin = await town.tokenOf('admin');
  const first = await town.tokenOf('hasty');
  const me = await town.call({ path: '/users/me', token: first });
  const { id } = me.json as { id: string };
  for (let round = 0; round < 6; round += 1) {
    const password = `password number ${round}`;
    const path = `/users/${id}/password`;
    const set = { method: 'PUT', path, token: admin, body: password } as const;
    assert.equal((await town.call(set)).status, 204);
    const login = {
      method: 'POST',
      path: '/auth/token',
      json: credentials('hasty', password),
    } as const;
    const token = (await town.call(login)).text;
    const gained: string[] = [token];
    let isOver = false;
    const renewing = Array.from({ length: 4 }, async () => {
      let current = token;
      while (!isOver) {
        const reply = await town.call({ method: 'POST', path: '/auth/renew', token: current });
        if (reply.status !== 200) return;
        current = reply.text;
        gained.push(current);
      }
    });
    const changed = await town.call({ ...set, body: 'changed meanwhile' });
    assert.equal(changed.status, 204);
    isOver = true;
    await Promise.all(renewing);
    for (const one of gained) {
      const { status } = await town.call({ path: '/users/me', token: one });
      assert.equal(status, 401, 'a token outlived the password');
    }
  }
});
