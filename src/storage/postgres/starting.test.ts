import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { createHeartbeat } from '../../domain/members/heartbeat.ts';
import { memberLimits } from '../../domain/members/member-limits.ts';
import type { Member } from '../../domain/members/member-store.ts';
import { silentLog } from '../../lib/log.ts';
import { openPostgres } from './postgres-storage.ts';

test('a process that loads for long is not given up by one that serves', {
  skip: noPostgres,
}, async () => {
  const url = await emptySchemaCalled('long_start');
  const open = () => openPostgres({ url, log: silentLog, serving: 'shared' });
  const [serving, starting] = [await open(), await open()];
  assert.ok(serving.members && starting.members);
  const { own } = starting.members;
  // Its services are not made yet, so nothing but its store can beat.
  const beats = 2 * memberLimits.silentBeats + 2;
  const told = await new Promise<readonly (readonly Member[])[]>((resolve) => {
    const lists: (readonly Member[])[] = [];
    const heartbeat = createHeartbeat({
      ...{ store: serving.members as NonNullable<typeof serving.members>, log: silentLog },
      listener: {
        onMembers(members) {
          lists.push(members);
          if (lists.length < beats) return;
          void heartbeat.stop();
          resolve(lists);
        },
      },
    });
    heartbeat.start();
  });
  assert.ok(told.every((members) => members.some(({ id }) => id === own)));
  const first = await starting.members.beat();
  assert.notEqual(first, 'lost');
  await starting.close();
  await serving.close();
});
