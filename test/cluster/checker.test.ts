import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkHistory } from './checker.ts';
import {
  emptyHistory,
  type History,
  type Received,
  type Sent,
  type Subscription,
} from './history.ts';

const never = Number.POSITIVE_INFINITY;

function sent(count: number, more: Partial<Sent> = {}): Sent {
  return {
    ...{ by: 'p', sensor: 's', mark: `s.${count}`, place: count, isTimed: false },
    ...{ sentAt: count * 100, sends: 1, outcome: 'acknowledged', answeredAt: count * 100 + 50 },
    ...more,
  };
}

const received = (mark: string, at: number, more: Partial<Received> = {}): Received => ({
  ...{ session: 'a', sensor: 's', mark, isDuplicate: false, at },
  ...more,
});

const published = [1, 2, 3].map((count) => sent(count, { qos: 2 }));
const subscription: Subscription = {
  ...{ session: 'a', qos: 2, sensors: new Set(['s']), from: 0, until: never },
};
const atEnd = (...marks: readonly string[]) => ({ at: 'one', sensor: 's', beganAt: 9_000, marks });
const rule = { name: 'r', sensor: 's', windowMs: 0, deliveries: ['s.1', 's.2', 's.3'] };
const revoked = {
  ...{ sessions: new Set(['a']), sensors: new Set(['s']), answeredAt: -2_000, until: never },
};
const message = (id: string, created: number) => ({ rule: 'r', id, mark: 's.1', created });

/** What a service does that keeps all its promises. */
const right: History = {
  ...emptyHistory(),
  sent: published,
  reads: [{ ...atEnd('s.1'), beganAt: 160 }, atEnd('s.1', 's.2', 's.3')],
  stored: [atEnd('s.1', 's.2', 's.3'), { ...atEnd('s.1', 's.2', 's.3'), at: 'other' }],
  subscriptions: [subscription],
  received: [received('s.1', 160), received('s.2', 260), received('s.3', 360)],
  rules: [rule],
  messages: [message('m', 5_000), message('m', 5_000), message('n', 5_100)],
  revocations: [
    { ...revoked, sessions: new Set(['b']) },
    { ...revoked, until: 150 },
  ],
  connected: [
    { client: 'c', from: 0, until: 1_500 },
    { client: 'c', from: 1_000, until: never },
  ],
  deaths: [{ client: 'c', wills: 1 }],
};

test('a history that keeps every promise is accepted', () => {
  assert.deepEqual(checkHistory(right), []);
  const unknown = sent(4, { outcome: 'unknown', answeredAt: never });
  const withUnknown = { ...right, sent: [...published, unknown], rules: [] };
  assert.deepEqual(checkHistory(withUnknown), []);
  const kept = atEnd('s.1', 's.2', 's.3', 's.4');
  assert.deepEqual(checkHistory({ ...withUnknown, stored: [kept] }), []);
});

const refused = sent(4, { outcome: 'refused' });
const timed = published.map((one) => ({ ...one, isTimed: true, sends: 2 }));

/** Each of them breaks one promise, and is told by these words. */
const wrong: readonly (readonly [name: string, change: Partial<History>, says: RegExp])[] = [
  ['an acknowledged value is lost', { stored: [atEnd('s.1', 's.2')] }, /s\.3 is lost/],
  [
    'a refused value is stored',
    { sent: [...published, refused], stored: [atEnd('s.1', 's.2', 's.3', 's.4')] },
    /s\.4 was refused and is stored/,
  ],
  [
    'a value is stored twice',
    { stored: [atEnd('s.1', 's.1', 's.2', 's.3')] },
    /s\.1 is stored 2 times/,
  ],
  [
    'a value with a timestamp that was sent twice is stored twice',
    { sent: timed, stored: [atEnd('s.1', 's.1', 's.2', 's.3')], rules: [] },
    /s\.1 is stored 2 times/,
  ],
  ['a value comes from nowhere', { stored: [atEnd('s.1', 's.2', 's.3', 'x')] }, /nobody sent it/],
  ['values change places', { stored: [atEnd('s.2', 's.1', 's.3')] }, /s\.1 stands behind s\.2/],
  [
    'processes differ',
    { stored: [atEnd('s.1', 's.2', 's.3'), { ...atEnd('s.1', 's.3'), at: 'other' }] },
    /different values of s/,
  ],
  ['a read is old', { reads: [{ ...atEnd('s.1'), beganAt: 260 }] }, /did not show s\.2/],
  ['a message is lost', { received: right.received.slice(0, 2) }, /never got s\.3/],
  [
    'a message of QoS 2 comes twice',
    { received: [...right.received, received('s.3', 400)] },
    /got s\.3 2 times/,
  ],
  [
    'messages change places',
    { received: [received('s.2', 1), received('s.1', 2), received('s.3', 3)] },
    /got s\.1 after s\.2/,
  ],
  [
    'a refused value is delivered',
    {
      sent: [...published, refused],
      received: [...right.received, received('s.4', 500)],
    },
    /got s\.4, which was refused/,
  ],
  [
    'a group gets one twice and is not told',
    {
      received: ['s.1', 's.1'].map((mark, at) => received(mark, at, { session: 'group 1' })),
      subscriptions: [{ ...subscription, session: 'group 1', qos: 1, from: never }],
    },
    /without DUP/,
  ],
  ['an alarm is lost', { rules: [{ ...rule, deliveries: ['s.1', 's.2'] }] }, /has no delivery/],
  [
    'an alarm is doubled',
    { rules: [{ ...rule, deliveries: ['s.1', 's.1', 's.2', 's.3'] }] },
    /s\.1 fired 2 times/,
  ],
  [
    'a message of an alarm comes three times',
    { messages: ['m', 'm', 'm'].map((id) => message(id, 5_000)) },
    /the message m came 3 times/,
  ],
  [
    'an alarm comes twice in its window',
    { rules: [{ ...rule, windowMs: 2_000 }] },
    /fired twice within 100 ms/,
  ],
  [
    'a message comes after a revocation',
    { revocations: [{ ...revoked, answeredAt: -700, until: 1_000 }] },
    /a: got s\.3 1060 ms after it may/,
  ],
  [
    'a client id is connected twice',
    {
      connected: [
        { client: 'c', from: 0, until: never },
        { client: 'c', from: 1_000, until: never },
      ],
    },
    /connected twice/,
  ],
  [
    'of a group nobody gets one',
    {
      received: [received('s.1', 1, { session: 'group 1' })],
      subscriptions: [
        { ...subscription, session: 'group', members: new Set(['group 1', 'group 2']) },
      ],
    },
    /group never got s\.2/,
  ],
  ['a will is lost', { deaths: [{ client: 'c', wills: 0 }] }, /came 0 times/],
  ['a will comes twice', { deaths: [{ client: 'c', wills: 2 }] }, /came 2 times/],
];

for (const [name, change, says] of wrong) {
  test(`it is told when ${name}`, () => {
    const complaints = checkHistory({ ...right, ...change });
    assert.match(complaints.join('\n'), says);
  });
}
