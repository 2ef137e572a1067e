import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payerOfAccount } from '../../domain/budgets/payer.ts';
import { type MessageOrigin, sessionKey } from '../../domain/messaging/message.ts';
import { createCounters } from './counters.ts';
import type { Delivery } from './delivery.ts';
import { createOutbound } from './outbound.ts';
import { Session } from './session.ts';

const from = (writer: number, at: number) =>
  ({ isExpired: false, message: { topic: 'd', origin: { writer, at } } }) as unknown as Delivery;

test('what a session had of another process does not come again, however late it is read', () => {
  const queued: (MessageOrigin | undefined)[] = [];
  const add = (_: Session, { message }: Delivery) => void queued.push(message.origin);
  const outbound = createOutbound({
    authority: { tryQueue: () => 'yes' } as never,
    queue: { add } as never,
    journal: { hold() {} },
    counters: createCounters(),
  });
  const session = new Session({
    ...{ key: sessionKey('m', 'c'), identity: 'm', clientId: 'c' },
    ...{ expirySeconds: 3_600, payer: payerOfAccount('m') },
  });
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
