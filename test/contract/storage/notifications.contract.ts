import assert from 'node:assert/strict';
import type { NotificationId } from '../../../src/domain/ids.ts';
import { limits } from '../../../src/domain/limits.ts';
import type { Firing, NewDelivery } from '../../../src/domain/notifications/delivery.ts';
import type { Notification } from '../../../src/domain/notifications/notification.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import {
  aSocial,
  aUser,
  deviceId,
  noon,
  sensorId,
  socialId,
  userId,
  username,
} from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const notificationId = (text: string): NotificationId => text as NotificationId;

/** A notification of ana's. */
export function aNotification(id: string, fields: Partial<Notification> = {}): Notification {
  return {
    id: notificationId(id),
    owner: username('ana'),
    condition: { devices: [deviceId('d1')], sensors: [sensorId('TC1')], expression: 'TC1 > 30' },
    action: { kind: 'message', usernames: ['bob'], channels: ['sms'], message: 'hot' },
    actionSpelling: 'plain',
    status: 'active',
    createdAt: noon,
    modifiedAt: noon,
    ...fields,
  };
}

const aDelivery = (fields: Partial<NewDelivery> = {}): NewDelivery => ({
  username: 'bob',
  channel: 'webhook',
  message: 'nul\u0000 ünï',
  progress: { status: 'pending', dueAt: noon },
  ...fields,
});

const aFiring = (id: string, fields: Partial<Firing> = {}): Firing => ({
  notificationId: notificationId(id),
  deviceId: deviceId('d1'),
  at: noon,
  throttlingMs: 0,
  deliveries: [aDelivery()],
  state: { isRaised: true },
  ...fields,
});

async function prepare({ users, notifications }: Storage): Promise<void> {
  for (const name of ['ana', 'bob']) await users.insert(aUser(name), 'hash');
  assert.equal(await notifications.insert(aNotification('n1')), 'inserted');
}

const everyChannel = new Map(
  (['webhook', 'sms', 'voice', 'actuation'] as const).map((channel) => [channel, 100]),
);

function claim({ outbox }: Storage, now: number = noon, leaseEndsAt = now + 60_000) {
  return outbox.claimDue({ now, leaseEndsAt, quotas: everyChannel });
}

const ids = (claimed: readonly { id: string }[]) => claimed.map(({ id }) => id);

async function tallyOf({ notifications }: Storage, id = 'n1') {
  return (await notifications.find(notificationId(id)))?.tally;
}

const kept: Promises = {
  'a notification that comes with a tally is found with it': async ({ notifications }) => {
    const tally = {
      timesSent: 3,
      lastFiredAt: noon,
      lastSuccessAt: noon + 1,
      lastSuccessCode: 200,
      lastFailureAt: noon + 2,
      lastFailureReason: 'nul\u0000',
    };
    const moved = aNotification('n3');
    assert.equal(await notifications.insert(moved, tally), 'inserted');
    assert.deepEqual(await notifications.find(moved.id), { notification: moved, tally });
  },
  'a notification is found as it was inserted, and listed in the order asked for': async (
    opened,
  ) => {
    const { notifications } = opened;
    const rich = aNotification('n2', {
      description: 'nul\u0000 ünï',
      expires: 'as given',
      throttlingSeconds: 60,
      status: 'inactive',
      actionSpelling: 'typed',
    });
    assert.equal(await notifications.insert(rich), 'inserted');
    const found = await notifications.find(rich.id);
    assert.deepEqual(found, { notification: rich, tally: { timesSent: 0 } });
    const many = await notifications.findMany(['n2', 'none', 'n1'].map(notificationId));
    assert.deepEqual(
      many.map(({ notification }) => notification.id),
      ['n2', 'n1'],
    );
    const all = await notifications.load();
    assert.deepEqual(
      all.map(({ notification }) => notification.id),
      ['n1', 'n2'],
    );
  },

  'changes set fields, remove them and leave the others': async ({ notifications }) => {
    const id = notificationId('n1');
    await notifications.update(id, { description: 'a', expires: 'b' }, noon + 1);
    await notifications.update(id, { expires: undefined, status: 'inactive' }, noon + 2);
    const found = await notifications.find(id);
    const expected = { description: 'a', status: 'inactive', modifiedAt: noon + 2 } as const;
    assert.deepEqual(found?.notification, aNotification('n1', expected));
    assert.equal(await notifications.update(notificationId('x'), {}, noon), 'missing');
  },

  'a notification of an account that ended is not kept': async ({ notifications, users }) => {
    await users.remove(userId('id-ana'));
    assert.equal(await notifications.insert(aNotification('n2')), 'missing');
    assert.deepEqual(await notifications.load(), []);
  },

  'a notification goes once, with its deliveries': async (opened) => {
    await opened.notifications.fire([aFiring('n1')]);
    assert.equal(await opened.notifications.remove(notificationId('n1')), 'removed');
    assert.equal(await opened.notifications.remove(notificationId('n1')), 'missing');
    assert.deepEqual((await claim(opened)).claimed, []);
    assert.deepEqual(await opened.notifications.fire([aFiring('n1')]), [{ kind: 'gone' }]);
  },
};

const fired: Promises = {
  'lets one firing through per throttling window': async (opened) => {
    const { notifications } = opened;
    const at = (ms: number) => aFiring('n1', { at: noon + ms, throttlingMs: 1_000 });
    const together = await notifications.fire([at(0), at(0), at(999), at(1_000)]);
    assert.deepEqual(
      together.map(({ kind }) => kind),
      ['fired', 'throttled', 'throttled', 'fired'],
    );
    const racing = await Promise.all([
      notifications.fire([at(2_000)]),
      notifications.fire([at(2_000)]),
    ]);
    assert.deepEqual(
      racing
        .flat()
        .map(({ kind }) => kind)
        .sort(),
      ['fired', 'throttled'],
    );
    assert.deepEqual(
      racing.flat().find(({ kind }) => kind === 'throttled'),
      {
        kind: 'throttled',
        lastFiredAt: noon + 2_000,
      },
    );
    assert.deepEqual(await tallyOf(opened), { timesSent: 3, lastFiredAt: noon + 2_000 });
  },

  'an inactive notification does not fire': async ({ notifications }) => {
    await notifications.update(notificationId('n1'), { status: 'inactive' }, noon);
    assert.deepEqual(await notifications.fire([aFiring('n1')]), [{ kind: 'inactive' }]);
  },

  'a firing keeps the state with it, and states are kept without one': async ({
    notifications,
  }) => {
    await notifications.fire([aFiring('n1')]);
    const d2 = deviceId('d2');
    const id = notificationId('n1');
    await notifications.saveStates([
      { notificationId: id, deviceId: d2, state: { holdsSince: noon } },
      { notificationId: notificationId('gone'), deviceId: d2, state: {} },
    ]);
    const [loaded] = await notifications.load();
    assert.deepEqual([...(loaded?.states ?? [])].sort(), [
      ['d1', { isRaised: true }],
      ['d2', { holdsSince: noon }],
    ]);
  },

  'a changed condition forgets what was remembered of devices, other changes keep it': async ({
    notifications,
  }) => {
    const id = notificationId('n1');
    const statesNow = async () => [...((await notifications.load())[0]?.states.keys() ?? [])];
    await notifications.fire([aFiring('n1')]);
    await notifications.update(id, { description: 'a', status: 'inactive' }, noon + 1);
    assert.deepEqual(await statesNow(), ['d1']);
    const { condition } = aNotification('n1');
    await notifications.update(id, { condition }, noon + 2);
    assert.deepEqual(await statesNow(), []);
  },

  'deliveries are listed newest first, and what failed at once is told': async (opened) => {
    const { notifications } = opened;
    const failed = aDelivery({ username: 'kim', progress: { status: 'failed', reason: 'no key' } });
    await notifications.fire([aFiring('n1', { deliveries: [aDelivery(), failed] })]);
    const page = await notifications.deliveries(notificationId('n1'), { limit: 10, offset: 0 });
    assert.equal(page.total, 2);
    assert.deepEqual(page.deliveries, [
      { ...failed, attempts: 0, createdAt: noon },
      { ...aDelivery(), attempts: 0, createdAt: noon },
    ]);
    assert.deepEqual(await tallyOf(opened), {
      timesSent: 2,
      lastFiredAt: noon,
      lastFailureAt: noon,
      lastFailureReason: 'no key',
    });
  },

  'too many waiting deliveries are filed as failed': async (opened) => {
    const max = limits.deliveriesPendingMax;
    const deliveries = Array.from({ length: max + 2 }, () => aDelivery());
    await opened.notifications.fire([aFiring('n1', { deliveries })]);
    const page = await opened.notifications.deliveries(notificationId('n1'), {
      limit: 3,
      offset: 0,
    });
    const statuses = page.deliveries.map(({ progress }) => progress.status);
    assert.deepEqual(statuses, ['failed', 'failed', 'pending']);
  },
};

const delivered: Promises = {
  'hands a delivery to one claimant until its lease ends': async (opened) => {
    await opened.notifications.fire([aFiring('n1')]);
    assert.deepEqual((await claim(opened, noon - 1)).claimed, []);
    const racing = await Promise.all([claim(opened), claim(opened)]);
    const [first] = racing.flatMap(({ claimed }) => claimed);
    assert.equal(racing.flatMap(({ claimed }) => claimed).length, 1);
    assert.deepEqual([first?.attempts, first?.message], [1, 'nul\u0000 ünï']);
    const { claimed, nextDueAt } = await claim(opened, noon + 59_999);
    assert.deepEqual([claimed, nextDueAt], [[], noon + 60_000]);
    const again = await claim(opened, noon + 60_000);
    assert.deepEqual(ids(again.claimed), ids(first === undefined ? [] : [first]));
    assert.equal(again.claimed[0]?.attempts, 2);
  },

  'completes what is still claimed: sent, tried again, given up': async (opened) => {
    const { notifications, outbox } = opened;
    const deliveries = [aDelivery(), aDelivery(), aDelivery({ isUnderWay: true })];
    await notifications.fire([aFiring('n1', { deliveries })]);
    const [a, b, c] = (await claim(opened)).claimed;
    assert.ok(a && b && c);
    assert.equal(c.attempts, 2);
    const at = noon + 5;
    await outbox.complete([
      { id: a.id, attempts: 1, at, kind: 'sent', code: 200 },
      { id: b.id, attempts: 1, at, kind: 'retry', dueAt: noon + 9_000, reason: 'busy' },
      { id: c.id, attempts: 2, at, kind: 'failed', reason: 'no phone' },
      { id: b.id, attempts: 7, at, kind: 'failed', reason: 'from an old claim' },
    ]);
    const page = await notifications.deliveries(notificationId('n1'), { limit: 9, offset: 0 });
    assert.deepEqual(
      page.deliveries.map(({ progress }) => progress),
      [
        { status: 'failed', reason: 'no phone' },
        { status: 'pending', dueAt: noon + 9_000, reason: 'busy' },
        { status: 'sent', sentAt: at },
      ],
    );
    const tally = await tallyOf(opened);
    assert.deepEqual([tally?.lastSuccessAt, tally?.lastSuccessCode], [at, 200]);
    assert.deepEqual([tally?.lastFailureAt, tally?.lastFailureReason], [at, 'no phone']);
    assert.equal((await claim(opened, noon + 9_000)).claimed[0]?.attempts, 2);
  },

  'sms costs credit once, and gives it back when it fails': async (opened) => {
    const { notifications, outbox, users } = opened;
    const credit = async () => (await users.find(userId('id-ana')))?.smsCredit;
    await users.update(userId('id-ana'), { smsCredit: 1 });
    const sms = aDelivery({ channel: 'sms' });
    await notifications.fire([aFiring('n1', { deliveries: [sms, sms, aDelivery()] })]);
    const { claimed } = await claim(opened);
    assert.deepEqual(claimed.map(({ unpaid }) => unpaid).sort(), [
      'no_credit',
      undefined,
      undefined,
    ]);
    assert.equal(await credit(), 0);
    const paid = claimed.find(({ channel, unpaid }) => channel === 'sms' && unpaid === undefined);
    assert.ok(paid);
    const completed = { id: paid.id, attempts: 1, at: noon };
    await outbox.complete([{ ...completed, kind: 'retry', dueAt: noon + 1, reason: 'busy' }]);
    const again = (await claim(opened, noon + 1)).claimed;
    assert.deepEqual(
      again.map(({ unpaid }) => unpaid),
      [undefined],
    );
    await outbox.complete([{ ...completed, attempts: 2, kind: 'failed', reason: 'no' }]);
    assert.equal(await credit(), 1);
  },

  'deliveries and test messages race for the last credit, and each is paid once': async (
    opened,
  ) => {
    const { notifications, outbox, users } = opened;
    await users.update(userId('id-ana'), { smsCredit: 3 });
    const deliveries = Array.from({ length: 4 }, () => aDelivery({ channel: 'sms' }));
    await notifications.fire([aFiring('n1', { deliveries })]);
    const [found, ...payments] = await Promise.all([
      claim(opened),
      ...deliveries.map(() => outbox.pay('ana', 'sms', noon)),
    ]);
    const sent = found.claimed.filter(({ unpaid }) => unpaid === undefined).length;
    assert.equal(sent + payments.filter((payment) => payment === 'paid').length, 3);
    assert.equal((await users.find(userId('id-ana')))?.smsCredit, 0);
  },

  'hands out one delivery of each payer and then the next of each, whoever came first': async (
    opened,
  ) => {
    const { notifications, socials, outbox } = opened;
    const deliveries = Array.from({ length: 30 }, () => aDelivery({ channel: 'webhook' }));
    await notifications.fire([aFiring('n1', { deliveries })]);
    const pending = (id: string) =>
      ({ ...aSocial(id), channel: 'webhook', status: 'pending', createdAt: noon + 1 }) as const;
    await socials.insert([{ ...pending('s1'), sender: username('bob') }]);
    const order = { now: noon + 5, leaseEndsAt: noon + 60_000 };
    const quotas = new Map([['webhook', 4]] as const);
    const { claimed } = await outbox.claimDue({ ...order, quotas });
    assert.equal(claimed.filter(({ payer }) => payer === 'bob').length, 1);
    assert.equal(claimed.length, 4);
    const underWay = new Map([['webhook', new Map([['ana', 3]])]] as const);
    const next = await outbox.claimDue({ ...order, quotas, underWay, perPayerMax: 5 });
    assert.equal(next.claimed.length, 2);
    const full = await outbox.claimDue({ ...order, quotas, underWay, perPayerMax: 3 });
    assert.deepEqual(full.claimed, []);
  },

  'ids of deliveries have a random part, the same at every try': async (opened) => {
    await opened.notifications.fire([aFiring('n1')]);
    const [first] = (await claim(opened)).claimed;
    assert.match(first?.id ?? '', /^[0-9a-f]{16,}-\d+$/);
    const [again] = (await claim(opened, noon + 60_000)).claimed;
    assert.equal(again?.id, first?.id);
  },

  'a day has so many messages of paid channels, of one payer and of all': async (opened) => {
    const { outbox } = opened;
    const at = noon;
    const pay = (payer: string, perDay = { each: 2, all: 3 }, when = at) =>
      outbox.pay(payer, 'sms', when, perDay);
    assert.deepEqual([await pay('ana'), await pay('ANA')], ['paid', 'paid']);
    assert.equal(await pay('ana'), 'own_day_full');
    assert.equal(await outbox.pay('ana', 'voice', at, { each: 2, all: 3 }), 'paid');
    assert.equal(await pay('bob'), 'day_full');
    assert.equal(await pay('bob', { each: 2, all: 3 }, at + 86_400_000), 'paid');
    assert.equal(await pay('nobody', { each: 9, all: 9 }), 'no_credit');
    const racing = { each: 99, all: 99 };
    await opened.users.update(userId('id-ana'), { smsCredit: 1 });
    const two = await Promise.all([pay('ana', racing), pay('ana', racing)]);
    assert.deepEqual(two.toSorted(), ['no_credit', 'paid']);
  },

  'a pending social message is delivered and tells what became of it': async (opened) => {
    const { socials, outbox } = opened;
    const pending = (id: string) =>
      ({ ...aSocial(id), channel: 'webhook', status: 'pending' }) as const;
    await socials.insert([pending('s1'), pending('s2'), pending('s3')]);
    await socials.remove(socialId('s3'));
    const [a, b, ...others] = (await claim(opened)).claimed;
    assert.ok(a && b && others.length === 0);
    assert.deepEqual([a.source, a.username], [{ kind: 'social', id: 's1' }, 'bob']);
    await outbox.complete([
      { id: a.id, attempts: 1, at: noon, kind: 'sent', code: 200 },
      { id: b.id, attempts: 1, at: noon, kind: 'failed', reason: 'gone' },
    ]);
    assert.equal((await socials.find(socialId('s1')))?.status, 'sent');
    const failed = await socials.find(socialId('s2'));
    assert.deepEqual(failed, { ...pending('s2'), status: 'failed', reason: 'gone' });
    assert.deepEqual((await claim(opened, noon + 99_999)).claimed, []);
  },
};

/** What every engine promises of notifications and of the outbox. */
export function notificationsContract(openEmptyStorage: OpenEmptyStorage): void {
  for (const promises of [kept, fired, delivered]) {
    testPromises(promises, openEmptyStorage, prepare);
  }
}
