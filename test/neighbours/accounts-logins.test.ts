import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwordOf } from '../service.ts';
import { startNeighbourhood } from './neighbours.ts';

const json = (username: string, password: string) => ({ username, password });

test('invented names and wrong passwords lock nobody out who logged in before', async () => {
  await using town = await startNeighbourhood();
  const guess = (username: string) =>
    town.call({ method: 'POST', path: '/auth/token', json: json(username, 'a wrong password') });
  await town.attack(async () => {
    const statuses: number[] = [];
    for (let name = 0; name < 110; name += 1) statuses.push((await guess(`nobody-${name}`)).status);
    assert.ok(statuses.includes(429), 'the guesser is slowed down');
  });
});

test('sign-ups at once leave room for logins', async () => {
  await using town = await startNeighbourhood();
  await town.attack(async () => {
    const names = Array.from({ length: 240 }, (_, index) => `crowd-${index}`);
    const replies = await Promise.all(
      names.map((name) =>
        town.call({ method: 'POST', path: '/users', json: json(name, passwordOf(name)) }),
      ),
    );
    for (const { status, text } of replies) assert.ok([200, 429, 503].includes(status), text);
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
    const login = { method: 'POST', path: '/auth/token', json: json('hasty', password) } as const;
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
      assert.equal((await town.call({ path: '/users/me', token: one })).status, 401);
    }
  }
});
