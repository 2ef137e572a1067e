import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import { createBudgets } from '../../domain/budgets/budgets.ts';
import { silentLog } from '../../lib/log.ts';
import { createWills } from './wills.ts';

const ann = payerOfAccount('ann');
const message = { topic: 't', payload: Buffer.from('gone'), qos: 0, retain: false } as const;

/** Wills whose journal does `synced`; what it was given is in `added`. */
function start(synced: () => Promise<void> | undefined) {
  const bytes = createBudgets().of('mqtt_will_bytes');
  const added: string[] = [];
  const wills = createWills({
    ...{ bytes, clock: { now: () => 0 }, shared: undefined, authority: {}, log: silentLog },
    journal: { add: ({ kind }) => void added.push(kind), synced, decided: () => undefined },
    handOnShares: { turnOf: async () => undefined },
    completion: {} as never,
  });
  return { wills, bytes, added };
}

for (const outcome of [{ kind: 'unavailable' }, { kind: 'refused', reason: 'quota' }] as const) {
  test(`a will that is given up leaves nothing in the store: ${outcome.kind}`, async () => {
    const { wills, bytes, added } = start(() => undefined);
    let tries = 0;
    const publish = async () => {
      tries += 1;
      return outcome;
    };
    const kept = { ...message, publisher: 'k' as never };
    assert.ok(wills.keep({ payer: ann }, { message: kept, turn: 0 }));
    wills.leave('k' as never, { payer: ann, publish }, { message: kept, delayMs: 0, turn: 7 });
    for (let n = 0; n < 100; n += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      wills.sweep(0);
    }
    assert.deepEqual([tries, added, bytes.used], [60, ['will_settled'], 0]);
  });
}

test('of wills that meet a full quota a hundred of a payer are tried again', async () => {
  const { wills, added } = start(() => undefined);
  let tries = 0;
  const publish = async () => {
    tries += 1;
    return { kind: 'refused', reason: 'quota' } as const;
  };
  for (let turn = 1; turn <= 150; turn += 1) {
    const kept = { ...message, publisher: `k${turn}` as never };
    assert.ok(wills.keep({ payer: ann }, { message: kept, turn }));
    wills.leave(`k${turn}` as never, { payer: ann, publish }, { message: kept, delayMs: 0, turn });
  }
  const soon = () => new Promise((resolve) => setImmediate(resolve));
  await soon();
  assert.deepEqual([tries, added.length], [150, 50]);
  for (const sweep of [1, 2]) {
    wills.sweep(0);
    await soon();
    assert.deepEqual([tries, added.length], [150 + 100 * sweep, 50]);
  }
});

test('a will found late is published at once, and the next one of its session waits', async () => {
  const { wills } = start(() => undefined);
  const published: number[] = [];
  const ofTerm = (turn: number, delayMs: number) => {
    const publish = async () => {
      published.push(turn);
      return { kind: 'accepted', isPassedOn: true } as const;
    };
    wills.leave('k' as never, { payer: ann, publish }, { message, delayMs, turn });
  };
  ofTerm(8, 5);
  ofTerm(7, 5);
  assert.deepEqual(published, [7]);
  ofTerm(9, 5);
  assert.deepEqual(published, [7, 8]);
  wills.sweep(5);
  assert.deepEqual(published, [7, 8, 9]);
});

test('a client is let in although nothing is written to the disk', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { wills, bytes, added } = start(() => new Promise(() => undefined));
  const opened: number[] = [];
  const will = { message, delayMs: 0, turn: 0 };
  const put = wills.put('k' as never, will, ann, (turn) => opened.push(turn) > 0);
  t.mock.timers.tick(2_999);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(opened, []);
  t.mock.timers.tick(1);
  await put;
  assert.deepEqual([opened.length, added, bytes.used], [1, ['will_kept'], 0]);
});

test('a connection without a will comes in behind one of its session that waits', async () => {
  const step = Promise.withResolvers<void>();
  const { wills, bytes, added } = start(() => step.promise);
  const opened: string[] = [];
  const put = (key: string, name: string, will?: { message: typeof message }) =>
    wills.put(key as never, will && { ...will, delayMs: 0, turn: 0 }, ann, () => {
      opened.push(name);
      return name !== 'gone';
    });
  const waiting = [put('k', 'gone', { message }), put('k', 'later'), put('l', 'other')];
  await waiting[2];
  assert.deepEqual(opened, ['other']);
  step.resolve();
  await Promise.all(waiting);
  assert.deepEqual(opened, ['other', 'gone', 'later']);
  await put('k', 'last');
  assert.deepEqual([added, bytes.used], [['will_kept', 'will_settled'], 0]);
});

test('a will without quota is refused at once, whoever of its session waits', async () => {
  const { wills, bytes, added } = start(() => new Promise(() => undefined));
  assert.equal(bytes.take(ann, 1), undefined);
  const payload = Buffer.alloc(600_000);
  const will = { message: { ...message, payload }, delayMs: 0, turn: 0 };
  const opened: number[] = [];
  const put = () => wills.put('k' as never, will, ann, (turn) => opened.push(turn) > 0);
  const waiting = Array.from({ length: 1_000 }, put);
  assert.ok(
    opened.length > 0 && opened.every((turn) => turn === 0),
    `${opened.length} are refused`,
  );
  assert.equal(added.length + opened.length, waiting.length);
});

test('a will that meets a bug is over, and the bug is in the log', async () => {
  const logged: string[] = [];
  const bytes = createBudgets().of('mqtt_will_bytes');
  const wills = createWills({
    ...{ bytes, clock: { now: () => 0 }, shared: undefined, authority: {} },
    journal: { add() {}, synced: () => undefined, decided: () => undefined },
    log: { ...silentLog, error: (_fields, sentence) => void logged.push(sentence) },
    handOnShares: { turnOf: async () => undefined },
    completion: {
      router: {
        route() {
          throw new Error('a bug');
        },
      },
    } as never,
  });
  const client = {
    payer: ann,
    publish: async () => ({ kind: 'accepted', isPassedOn: true }) as const,
  };
  assert.ok(wills.keep(client, { message, turn: 0 }));
  wills.leave('k' as never, client, { message, delayMs: 0, turn: 0 });
  await wills.finish();
  assert.deepEqual([logged, bytes.used], [['a last will met a bug'], 0]);
});
