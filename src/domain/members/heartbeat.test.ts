import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../lib/log.ts';
import { DomainError } from '../errors.ts';
import { createHeartbeat } from './heartbeat.ts';
import { memberLimits } from './member-limits.ts';
import type { Member, MemberStore } from './member-store.ts';

/** Members as a database would know them; `own` is the first. */
function world(...others: readonly number[]) {
  const rows = new Map<number, Member>(
    [1, ...others].map((id) => [id, { id, beat: 0, state: 'serving' }]),
  );
  let isAway = false;
  const move = (id: number): void => {
    const row = rows.get(id);
    if (row !== undefined) rows.set(id, { ...row, beat: row.beat + 1 });
  };
  const store: MemberStore = {
    own: 1,
    log: {} as MemberStore['log'],
    figures: () => ({ lockWaitSeconds: 0, lossySettings: 0, connections: 0 }),
    async beat() {
      if (isAway) throw new DomainError('unavailable', 'away');
      if (rows.get(1)?.state !== 'serving') return 'lost';
      move(1);
      return [...rows.values()];
    },
    now: async () => 0,
    async giveUp(id, beat) {
      const row = rows.get(id);
      if (row?.state !== 'serving' || row.beat !== beat) return 'moved';
      rows.set(id, { ...row, state: 'lost' });
      return 'lost';
    },
  };
  const ended: string[] = [];
  let lost = 0;
  let changes = 0;
  const heartbeat = createHeartbeat({
    store,
    log: silentLog,
    listener: {
      onChanged: () => {
        changes += 1;
      },
      onEnded: ({ id, state }) => void ended.push(`${id} ${state}`),
      onLost: () => {
        lost += 1;
      },
    },
  });
  const beats = async (count: number): Promise<void> => {
    for (let beat = 0; beat < count; beat += 1) await heartbeat.beat().catch(() => undefined);
  };
  return {
    ...{ rows, ended, heartbeat, beats, move },
    lost: () => lost,
    changes: () => changes,
    setAway: (away: boolean) => {
      isAway = away;
    },
  };
}

const silent = memberLimits.silentBeats;

test('a member that does not move for five beats is given up, and told once', async () => {
  const { heartbeat, beats, rows, ended } = world(2);
  await beats(silent);
  assert.equal(rows.get(2)?.state, 'serving');
  assert.equal(heartbeat.serving().length, 2);
  await beats(1);
  assert.equal(rows.get(2)?.state, 'lost');
  await beats(3);
  assert.deepEqual(ended, ['2 lost']);
  assert.deepEqual(
    heartbeat.serving().map(({ id }) => id),
    [1],
  );
});

test('one that moves now and then is not', async () => {
  const { beats, move, rows } = world(2);
  for (let round = 0; round < 10; round += 1) {
    await beats(silent - 1);
    move(2);
  }
  assert.equal(rows.get(2)?.state, 'serving');
});

test('while the database is away nobody beats, and nobody is given up', async () => {
  const { beats, rows, setAway } = world(2);
  await beats(2);
  setAway(true);
  await beats(10 * silent);
  setAway(false);
  await beats(1);
  assert.equal(rows.get(2)?.state, 'serving');
});

test('whoever says good-bye is told as one that left, and one that is gone as lost', async () => {
  const { beats, rows, ended } = world(2, 3);
  await beats(1);
  rows.set(2, { id: 2, beat: 7, state: 'left' });
  rows.delete(3);
  await beats(1);
  assert.deepEqual(ended, ['2 left', '3 lost']);
});

test('who comes and ends between two beats is a change, and one that stays is none', async () => {
  const { beats, rows, changes } = world(2);
  await beats(2);
  assert.equal(changes(), 1, 'at the first beat');
  rows.set(3, { id: 3, beat: 0, state: 'left' });
  await beats(2);
  assert.equal(changes(), 2);
});

test('a process that was given up hears it once, and beats no more', async () => {
  const { beats, rows, lost } = world(2);
  rows.set(1, { id: 1, beat: 0, state: 'lost' });
  await beats(1);
  assert.equal(lost(), 1);
});
