import assert from 'node:assert/strict';
import { minute } from '../v2/sensor-endpoint.ts';

const deviceId = 'field';
/** A few of these, and the store begins to pack what it has: a crash may come then, too. */
const largeArray = 400;
/** Enough for any kill to come first. */
const pushesPerRunMax = 20_000;

interface SentDatapoint {
  readonly value: string;
  readonly timestamp?: string;
}

interface Push {
  readonly datapoints: readonly SentDatapoint[];
  readonly isArray: boolean;
  readonly isDated: boolean;
}

type Fate = 'acknowledged' | 'refused' | 'unanswered';

/** One connection that pushes to a sensor of its own, one push after the other. */
interface Pusher {
  readonly sensorId: string;
  readonly acknowledged: Push[];
  readonly refused: Push[];
  /** Sent, and the answer never came: it may be stored or not. */
  unanswered: Push | undefined;
  /** Unanswered pushes without a timestamp: nobody can send them again safely. */
  readonly uncertain: Push[];
  count: number;
}

/** A load of parallel pushes that knows what was acknowledged, over many runs and crashes. */
export interface PushLoad {
  readonly acknowledgedCount: number;
  /** Makes the device, when it is not there yet. */
  prepare(url: string): Promise<void>;
  /** Pushes on all connections until the service answers no more. */
  run(url: string, onAcknowledged: (count: number) => void): Promise<void>;
  /** Asserts that all that was acknowledged is there, once, and the last values are right. */
  verify(url: string): Promise<void>;
  /** Sends unanswered pushes with timestamps again, as gateways do. */
  resend(url: string): Promise<void>;
}

/** A load on `connections` sensors of one device, one connection each. */
export function createPushLoad(connections: number): PushLoad {
  const pushers = Array.from(
    { length: connections },
    (_, index): Pusher => ({
      sensorId: `S${index}`,
      acknowledged: [],
      refused: [],
      unanswered: undefined,
      uncertain: [],
      count: 0,
    }),
  );
  const total = () => pushers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
  const everyPusher = async (work: (pusher: Pusher) => Promise<void>) => {
    await Promise.all(pushers.map(work));
  };
  return {
    get acknowledgedCount() {
      return total();
    },
    async prepare(url) {
      const sensors = pushers.map(({ sensorId }) => ({ id: sensorId }));
      const body = JSON.stringify({ id: deviceId, sensors });
      const headers = { 'content-type': 'application/json' };
      const path = `${url}/api/v2/devices`;
      const { status } = await fetch(path, { method: 'POST', headers, body });
      assert.ok(status === 204 || status === 422, `the device was answered ${status}`);
    },
    run: (url, onAcknowledged) =>
      everyPusher((pusher) => pushUntilSilence(url, pusher, () => onAcknowledged(total()))),
    verify: (url) => everyPusher((pusher) => verifyPusher(url, pusher)),
    resend: (url) =>
      everyPusher(async (pusher) => {
        const push = pusher.unanswered;
        if (push === undefined) return;
        pusher.unanswered = undefined;
        if (!push.isDated) {
          pusher.uncertain.push(push);
          return;
        }
        assert.equal(await send(url, pusher, push), 'acknowledged');
        pusher.acknowledged.push(push);
      }),
  };
}

async function pushUntilSilence(
  url: string,
  pusher: Pusher,
  onAcknowledged: () => void,
): Promise<void> {
  for (let count = 0; count < pushesPerRunMax; count += 1) {
    const push = nextPush(pusher);
    const fate = await send(url, pusher, push);
    if (fate === 'acknowledged') {
      pusher.acknowledged.push(push);
      onAcknowledged();
      continue;
    }
    if (fate === 'unanswered') pusher.unanswered = push;
    else pusher.refused.push(push);
    return;
  }
  throw new Error('the load ended before the service did');
}

/** Singles and arrays in turn, with and without timestamps; arrays newest first now and then. */
function nextPush(pusher: Pusher): Push {
  pusher.count += 1;
  const { count, sensorId } = pusher;
  const isArray = count % 3 === 0;
  const isDated = count % 5 < 3;
  const length = count % 12 === 0 ? largeArray : isArray ? 1 + (count % 7) : 1;
  const datapoints = Array.from(
    { length },
    (_, index): SentDatapoint => ({
      value: `${sensorId}.${count}.${index}`,
      ...(isDated && { timestamp: minute(count * largeArray + index) }),
    }),
  );
  return { datapoints: count % 2 === 0 ? datapoints.reverse() : datapoints, isArray, isDated };
}

async function send(url: string, pusher: Pusher, push: Push): Promise<Fate> {
  const path = `${url}/api/v2/devices/${deviceId}/sensors/${pusher.sensorId}/values`;
  const body = JSON.stringify(push.isArray ? push.datapoints : push.datapoints[0]);
  const headers = { 'content-type': 'application/json' };
  let status: number;
  try {
    const response = await fetch(path, { method: 'POST', headers, body });
    status = response.status;
    await response.arrayBuffer();
  } catch {
    // Refused, reset or cut off: all a client can know is that it has no answer.
    return 'unanswered';
  }
  if (status === 204) return 'acknowledged';
  assert.equal(status, 503);
  return 'refused';
}

async function verifyPusher(url: string, pusher: Pusher): Promise<void> {
  const { sensorId, acknowledged, refused, unanswered, uncertain } = pusher;
  const sensor = `${url}/api/v2/devices/${deviceId}/sensors/${sensorId}`;
  const stored = (await getJson(`${sensor}/values?limit=1000000`)) as SentDatapoint[];
  const texts = stored.map(({ value, timestamp = '' }) => `${value} ${timestamp}`);
  const kept = new Set(texts);
  assert.equal(kept.size, texts.length, `${sensorId} holds a datapoint twice`);

  const open = unanswered === undefined ? uncertain : [...uncertain, unanswered];
  const explained = new Set<string>();
  for (const push of acknowledged) {
    assert.ok(isWhole(push, kept), `${sensorId} lost a part of ${JSON.stringify(push)}`);
    for (const text of textsOf(push)) explained.add(text);
  }
  for (const push of open.filter((push) => isPartly(push, kept))) {
    assert.ok(isWhole(push, kept), `${sensorId} has half of ${JSON.stringify(push)}`);
    for (const text of textsOf(push)) explained.add(text);
  }
  for (const push of refused) {
    assert.ok(!isPartly(push, kept), `${sensorId} kept what it refused`);
  }
  const strange = texts.filter((text) => !explained.has(text));
  assert.deepEqual(strange, [], `${sensorId} holds what nobody sent`);

  const isStored = unanswered !== undefined && isWhole(unanswered, kept);
  const latest = isStored ? unanswered : acknowledged.at(-1);
  const shown = (await getJson(sensor)) as { value?: SentDatapoint };
  if (!isEclipsed(latest, uncertain)) assert.equal(shown.value?.value, lastValueOf(latest));
}

/** Whether a stored push of uncertain fate came after the latest one we know of. */
function isEclipsed(latest: Push | undefined, uncertain: readonly Push[]): boolean {
  const counted = (push: Push | undefined) => Number(push?.datapoints[0]?.value.split('.')[1] ?? 0);
  return uncertain.some((push) => counted(push) > counted(latest));
}

/** The newest by timestamp, else the last element [contract 3]. */
function lastValueOf(push: Push | undefined): string | undefined {
  const byTime = (a: SentDatapoint, b: SentDatapoint) =>
    Date.parse(a.timestamp ?? '') - Date.parse(b.timestamp ?? '');
  const ordered = push?.isDated === true ? push.datapoints.toSorted(byTime) : push?.datapoints;
  return ordered?.at(-1)?.value;
}

const textsOf = (push: Push): readonly string[] =>
  push.datapoints.map(({ value, timestamp = '' }) => `${value} ${timestamp}`);

const isWhole = (push: Push, kept: ReadonlySet<string>): boolean =>
  textsOf(push).every((text) => kept.has(text));

const isPartly = (push: Push, kept: ReadonlySet<string>): boolean =>
  textsOf(push).some((text) => kept.has(text));

async function getJson(path: string): Promise<unknown> {
  const response = await fetch(path);
  assert.equal(response.status, 200, path);
  return response.json();
}
