import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import { type MessageOrigin, sessionKey } from '../../domain/messaging/message.ts';
import type { Share } from '../../domain/messaging/session-store.ts';
import { createCounters } from './counters.ts';
import type { Delivery } from './delivery.ts';
import { createOutbound } from './outbound.ts';
import { Session } from './session.ts';

const from = (writer: number, at: number) =>
  ({ isExpired: false, message: { topic: 'd', origin: { writer, at } } }) as unknown as Delivery;

const aSession = () =>
  new Session({
    ...{ key: sessionKey('m', 'c'), identity: 'm', clientId: 'c' },
    ...{ expirySeconds: 3_600, payer: payerOfAccount('m') },
  });

test('what a session had of another process does not come again, however late it is read', () => {
  const queued: (MessageOrigin | undefined)[] = [];
  const add = (_: Session, { message }: Delivery) => void queued.push(message.origin);
  const outbound = createOutbound({
    authority: { tryQueue: () => 'yes' } as never,
    queue: { add } as never,
    journal: { hold() {} },
    counters: createCounters(),
  });
  const session = aSession();
  const heard = new Map([[7, 5]]);
  session.catchUp = { waiting: undefined, found: new Set(['7 9']), heard };
  const terms = { qos: 2, retain: false, identifiers: [] } as const;
  for (const [writer, at] of [
    [7, 4],
    [7, 5],
    [7, 6],
    [7, 9],
    [8, 1],
  ] as const) {
    outbound.offer(session, from(writer, at), terms);
  }
  const names = queued.map((origin) => `${origin?.writer} ${origin?.at}`);
  assert.deepEqual(names, ['7 6', '8 1'], 'it had 7 4 and 7 5, and 7 9 was found in the log');
});

test('what a group’s member that ended was being asked about goes to another member', async () => {
  const verdict = Promise.withResolvers<boolean>();
  const [givenBack, handedOn, queued]: [Share[], string[], Delivery[]] = [[], [], []];
  const outbound = createOutbound({
    authority: { tryQueue: () => 'unknown', mayQueue: () => verdict.promise } as never,
    queue: { add: (_: Session, one: Delivery) => void queued.push(one) } as never,
    journal: { hold() {} },
    counters: createCounters(),
    claims: { giveBack: (share) => void givenBack.push(share) },
  });
  const session = aSession();
  const terms = { retain: false, identifiers: [], handOn: () => void handedOn.push('here') };
  const share = (message: string) => ({ group: 'g', message });
  const keep = () => undefined;
  const delivery = (at: number) =>
    Object.assign(from(1, at), { keep, detached: () => from(1, at) });
  outbound.offer(session, delivery(1), { ...terms, qos: 2, share: share('asked') });
  outbound.offer(session, delivery(2), { ...terms, qos: 1, share: share('behind it') });
  outbound.offer(session, delivery(3), { ...terms, qos: 0, share: share('at most once') });
  const held = aSession();
  held.catchUp = { waiting: [], found: new Set(), heard: new Map() };
  outbound.offer(held, delivery(4), { ...terms, qos: 1, share: share('held back') });
  // Another process takes both.
  for (const one of [session, held]) one.isEnded = true;
  verdict.resolve(true);
  for (const goOn of held.catchUp.waiting ?? []) goOn();
  await new Promise((resolve) => setImmediate(resolve));
  const names = givenBack.map(({ message }) => message).sort();
  assert.deepEqual(names, ['asked', 'behind it', 'held back']);
  assert.equal(handedOn.length, 3);
  assert.equal(queued.length, 0);
});

test('what becomes of deliveries is known once the rights of each are', async () => {
  const verdicts = [1, 2].map(() => Promise.withResolvers<boolean>());
  let asked = 0;
  const queued: unknown[] = [];
  const outbound = createOutbound({
    authority: {
      tryQueue: () => 'unknown',
      mayQueue: () => verdicts[asked++]?.promise ?? Promise.resolve(true),
    } as never,
    queue: {
      add: (_: Session, { message }: Delivery) => void queued.push(message.origin?.at),
    } as never,
    journal: { hold() {} },
    counters: createCounters(),
  });
  const session = aSession();
  const terms = { qos: 1, retain: false, identifiers: [] } as const;
  const offer = (at: number): void =>
    outbound.offer(session, Object.assign(from(1, at), { keep: () => undefined }), terms);
  offer(1);
  offer(2);
  let isDecided = false;
  const decided = outbound.decided().then(() => {
    isDecided = true;
  });
  const soon = () => new Promise((resolve) => setImmediate(resolve));
  verdicts[0]?.resolve(true);
  await soon();
  assert.deepEqual([queued, isDecided], [[1], false], 'the second one is being asked for');
  verdicts[1]?.resolve(true);
  await decided;
  assert.deepEqual(queued, [1, 2]);
  await outbound.decided();
});
