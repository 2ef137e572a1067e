import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword, isTakeableHash, verifyPassword } from './password-hash.ts';

const costing = (parameters: string) =>
  `$argon2id$v=19$${parameters}$c29tZXNhbHRzb21l$${'A'.repeat(43)}`;

test('a password matches its own hash, and no other', async () => {
  const hash = await hashPassword('cassava-0815');
  assert.ok(isTakeableHash(hash));
  assert.equal(await verifyPassword('cassava-0815', hash), true);
  assert.equal(await verifyPassword('cassava-0816', hash), false);
});

test('a hash of four times our own cost is checked, a dearer one matches nothing', async () => {
  for (const cheap of ['m=8,t=1,p=1', 'm=77824,t=2,p=1', 'm=19456,t=8,p=1', 'm=32,t=1,p=4']) {
    assert.ok(isTakeableHash(costing(cheap)), cheap);
  }
  const dear = ['m=1500000,t=12,p=1', 'm=77825,t=1,p=1', 'm=19456,t=9,p=1', 'm=64,t=1,p=5'];
  for (const hash of [...dear, 'm=8,t=0,p=1', 'm=8,t=1,p=0', 'm=7,t=1,p=1']) {
    assert.equal(isTakeableHash(costing(hash)), false, hash);
    const startedAt = performance.now();
    assert.equal(await verifyPassword('x', costing(hash)), false);
    assert.ok(performance.now() - startedAt < 500, hash);
  }
});
