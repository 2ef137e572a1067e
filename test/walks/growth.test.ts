import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { grow, isTooMuch } from '../../bench/growth.ts';
import { nameOf } from '../../bench/growth-routes.ts';
import { embedded } from '../engine.ts';

// The work of statements is counted by what the kernel says that a thread has read.
const skip = existsSync('/proc/thread-self/io') ? false : 'needs Linux';

embedded('what somebody asks for costs what they get, not what others have', { skip }, async () => {
  const all = await grow([300, 10_000]);
  assert.ok(all.length > 150);
  const grown = all.filter(isTooMuch).map(({ route, small, large, worst: [most] }) => {
    return `${nameOf(route)}: ${small} with 300 devices, ${large} with 10,000; ${most?.sql}`;
  });
  assert.deepEqual(grown, []);
  // What may grow does: another reason is no longer needed.
  const idle = all.filter(({ route, ratio }) => route.growsBecause !== undefined && ratio <= 1);
  assert.deepEqual(
    idle.map(({ route }) => nameOf(route)),
    [],
  );
});
