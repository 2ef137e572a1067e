import { setTimeout as wait } from 'node:timers/promises';
import type { History } from './history.ts';
import {
  deviceId,
  exchangeJson,
  type HttpTarget,
  type Load,
  startPusher,
  startReader,
} from './http-load.ts';
import { startPublisher, startSubscriber } from './mqtt-load.ts';
import { openNotices } from './notices.ts';
import { startRevoker } from './revoke-load.ts';
import { startRetainer, startWanderer } from './wanderer-load.ts';

/** All clients of a run. */
export interface Clients {
  /** The sensors that they send to and are not refused. */
  readonly served: readonly string[];
  readonly sensors: readonly string[];
  /** Ends them once everybody has what is due; says how long that took. */
  conclude(): Promise<string>;
  close(): Promise<void>;
}

const password = 'cluster-password-1';
const restMsMax = 60_000;
const slowPauseMs = 200;
const windowMs = 2_000;

const timedSensors = ['H0', 'H1'];
const plainSensors = ['H2', 'H3'];
const pushedSensors = [...timedSensors, ...plainSensors];
const alarmSensor = 'A0';
const throttledSensor = 'A1';
const alarmSensors = [alarmSensor, throttledSensor];
const crowdedSensor = 'C0';
const strangersSensor = 'X0';
const published = [
  { sensor: 'M0', qos: 1, isTimed: true },
  { sensor: 'M1', qos: 1, isTimed: false },
  { sensor: 'M2', qos: 2, isTimed: true },
  { sensor: 'M3', qos: 2, isTimed: false },
] as const;
const publishedSensors = published.map(({ sensor }) => sensor);
const sensors = [
  ...pushedSensors,
  ...publishedSensors,
  ...alarmSensors,
  crowdedSensor,
  strangersSensor,
];

/** Makes what the clients send to, as whoever sets a service up does. */
async function prepare({ url }: HttpTarget): Promise<string> {
  const ask = async (path: string, json: unknown) => {
    const reply = await exchangeJson(`${url}/api/v2${path}`, { method: 'POST', json });
    if (reply === undefined || reply.status >= 300) throw new Error(JSON.stringify(reply));
    return reply.json;
  };
  await ask('/devices', { id: deviceId, sensors: sensors.map((id) => ({ id })) });
  await ask('/users', { username: 'ama', password });
  return String(await ask('/auth/token', { username: 'ama', password }));
}

/** Pushes and reads over HTTP at all targets. */
function startPushing(history: History, targets: readonly HttpTarget[]): readonly Load[] {
  return [
    ...timedSensors.map((sensor) => startPusher(history, targets, { sensor, isTimed: true })),
    ...plainSensors.map((sensor) => startPusher(history, targets, { sensor, isTimed: false })),
    startPusher(history, targets, { sensor: alarmSensor, isTimed: true, pauseMs: slowPauseMs }),
    // At several processes at once: what they find of one sensor they may not both change.
    ...[0, 1, 2].flatMap((number) => [
      startPusher(history, targets, { sensor: throttledSensor, isTimed: false, number }),
      startPusher(history, targets, { sensor: crowdedSensor, isTimed: false, number }),
    ]),
    startPusher(history, targets, {
      ...{ sensor: strangersSensor, isTimed: false, pauseMs: slowPauseMs, token: 'of-nobody' },
    }),
    startReader(history, targets, [...pushedSensors, crowdedSensor, ...publishedSensors]),
  ];
}

/** Publishers and kept sessions; `conclude` waits until each has what was acknowledged. */
async function startMqtt(history: History, targets: readonly HttpTarget[]) {
  const heard = [...publishedSensors, ...pushedSensors, crowdedSensor];
  const subscribers = ([1, 2] as const).map((qos) =>
    startSubscriber(history, targets, { name: `subscriber-${qos}`, qos, sensors: heard }),
  );
  await Promise.all(subscribers.map(({ subscribed }) => subscribed));
  const group = await startGroup(history, targets);
  const wanderer = startWanderer(history, targets);
  await wanderer.ready;
  const retainer = startRetainer(history, targets);
  const publishers = published.map((one) => startPublisher(history, targets, one));
  const marksDue = () =>
    history.sent
      .filter(({ outcome, qos }) => outcome === 'acknowledged' && qos !== undefined)
      .map(({ mark }) => mark);
  return {
    async conclude(): Promise<string> {
      for (const publisher of publishers) publisher.rest();
      wanderer.rest();
      await retainer.stop();
      const settled = await untilRest(() => publishers.every((one) => one.underWay() === 0));
      await Promise.all(publishers.map((one) => one.stop()));
      const due = marksDue();
      const drained = await untilRest(() =>
        [...subscribers, group].every((one) => one.lacks(due).length === 0),
      );
      const mourned = await untilRest(wanderer.mourned);
      await Promise.all([...subscribers, group, wanderer].map((one) => one.stop()));
      return (
        `publishers at rest after ${settled} ms, subscribers after ${drained} ms, ` +
        `wills after ${mourned} ms`
      );
    },
  };
}

/** Members of a shared subscription, which go from process to process. */
async function startGroup(history: History, targets: readonly HttpTarget[]) {
  const names = ['group-1', 'group-2', 'group-3'];
  const options = { sensors: publishedSensors, prefix: '$share/crew/', isMember: true };
  const members = names.map((name) =>
    startSubscriber(history, targets, { ...options, name, qos: 2 }),
  );
  await Promise.all(members.map(({ subscribed }) => subscribed));
  history.subscriptions.push({
    ...{ session: 'group', members: new Set(names), qos: 2, sensors: new Set(publishedSensors) },
    ...{ from: performance.now(), until: Number.POSITIVE_INFINITY },
  });
  return {
    lacks: (marks: readonly string[]) =>
      members.reduce((left, member) => member.lacks(left), marks),
    stop: async () => void (await Promise.all(members.map((one) => one.stop()))),
  };
}

/** How long it took; no longer than anybody would wait. */
async function untilRest(isAtRest: () => boolean): Promise<number> {
  const since = performance.now();
  while (!isAtRest() && performance.now() - since < restMsMax) await wait(50);
  return Math.round(performance.now() - since);
}

/** Starts all clients. */
export async function startClients(
  history: History,
  targets: readonly HttpTarget[],
): Promise<Clients> {
  const [first] = targets;
  if (first === undefined) throw new Error('there is no process');
  const token = await prepare(first);
  const notices = await openNotices(history, first, {
    token,
    rules: [
      { name: 'every value', sensor: alarmSensor, windowMs: 0 },
      { name: 'one in two seconds', sensor: throttledSensor, windowMs },
    ],
  });
  const mqtt = await startMqtt(history, targets);
  const others = [...startPushing(history, targets), await startRevoker(history, targets, token)];
  return {
    ...{ sensors, served: [...pushedSensors, ...alarmSensors, crowdedSensor, ...publishedSensors] },
    async conclude() {
      await Promise.all(others.map((one) => one.stop()));
      const said = await mqtt.conclude();
      await notices.settle(first);
      return said;
    },
    close: () => notices.close(),
  };
}
