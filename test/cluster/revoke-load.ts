import { setTimeout as wait } from 'node:timers/promises';
import type { History, Revocation } from './history.ts';
import { exchangeJson, type HttpTarget, type Load } from './http-load.ts';
import { startClient } from './mqtt-client.ts';

const device = 'closed';
const sensor = 'R0';
const path = `/api/v2/devices/${device}`;
const topic = `devices/${device}/sensors/${sensor}/value`;
const guest = { username: 'bo', password: 'cluster-password-2' };
/** How he is named in the history as one who reads. */
const asReader = 'reads of bo';
const asSubscriber = 'subscriber-bo';

const grantedMs = 700;
/** Longer than what a revocation may take to be known everywhere. */
const revokedMs = 2_500;
const lookPauseMs = 50;
const againPauseMs = 200;

/**
 * A device that its owner shares with somebody and takes back, again and again, while values come:
 * at each process in turn. Whoever it is shared with subscribes and reads at all of them.
 */
export async function startRevoker(
  history: History,
  targets: readonly HttpTarget[],
  token: string,
): Promise<Load> {
  const guestToken = await prepare(targets[0], token);
  let isOver = false;
  let at = 0;

  const next = (): HttpTarget | undefined => {
    at += 1;
    return targets[at % targets.length];
  };

  /** Asks one process after the other until one has done it. */
  async function insist(method: string, json?: unknown): Promise<void> {
    while (!isOver) {
      const url = `${next()?.url}${path}/grants/bo`;
      const reply = await exchangeJson(url, { method, token, ...(json !== undefined && { json }) });
      // Taken back by the request before, whose answer was lost.
      if (reply !== undefined && (reply.status < 300 || reply.status === 404)) return;
      await wait(againPauseMs);
    }
  }

  const client = startClient({
    ...{ clientId: asSubscriber, history, targets, account: guest },
    onConnected: (link) => subscribe(link),
    onPacket(link, packet) {
      if (packet.cmd !== 'publish') return;
      const { value } = JSON.parse(packet.payload.toString()) as { value: unknown };
      history.received.push({
        ...{ session: asSubscriber, sensor, mark: String(value) },
        ...{ isDuplicate: packet.dup, at: performance.now() },
      });
      if (packet.qos > 0) link.send({ cmd: 'puback', messageId: packet.messageId ?? 0 });
    },
  });
  const subscribe = (link: ReturnType<typeof client.link>): void =>
    link?.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 1 }] });

  async function takeBackAndGive(): Promise<void> {
    await insist('PUT', ['device:view', 'device-data:view']);
    subscribe(client.link());
    await wait(grantedMs);
    await insist('DELETE');
    if (isOver) return;
    const revocation: Revocation = {
      ...{ sessions: new Set([asReader, asSubscriber]), sensors: new Set([sensor]) },
      ...{ answeredAt: performance.now(), until: Number.POSITIVE_INFINITY },
    };
    history.revocations.push(revocation);
    await wait(revokedMs);
    revocation.until = performance.now();
  }

  /** At one process: pushes as the owner, reads as the other. */
  async function look({ url, name }: HttpTarget, count: number): Promise<void> {
    const json = { value: `${sensor}.${name}.${count}` };
    await exchangeJson(`${url}${path}/sensors/${sensor}/value`, { method: 'POST', token, json });
    const seenAt = performance.now();
    const reply = await exchangeJson(`${url}${path}/sensors/${sensor}/values?limit=1`, {
      token: guestToken,
    });
    if (reply?.status === 200) {
      const mark = `a read at ${name}`;
      history.received.push({
        session: asReader,
        sensor,
        mark,
        isDuplicate: false,
        at: seenAt,
      });
    } else if (reply?.status === 401) history.oddities.push(`${name} forgot the token of bo`);
    await wait(lookPauseMs);
  }

  const ended = Promise.all([
    (async () => {
      while (!isOver) await takeBackAndGive();
    })(),
    ...targets.map(async (target) => {
      for (let count = 0; !isOver; count += 1) await look(target, count);
    }),
  ]);
  return {
    async stop() {
      isOver = true;
      await ended;
      await client.stop();
      for (const session of [asReader, asSubscriber]) {
        const count = history.received.filter((one) => one.session === session).length;
        if (count === 0) history.oddities.push(`${session}: nothing came when it was shared`);
      }
    },
  };
}

/** Answers the token of whom it is shared with. */
async function prepare(target: HttpTarget | undefined, token: string): Promise<string> {
  const ask = async (at: string, json: unknown) => {
    const url = `${target?.url}/api/v2${at}`;
    const reply = await exchangeJson(url, { method: 'POST', json, token });
    if (reply === undefined || reply.status >= 300) throw new Error(JSON.stringify(reply));
    return reply.json;
  };
  await ask('/users', guest);
  await ask('/devices', { id: device, visibility: 'private', sensors: [{ id: sensor }] });
  return String(await ask('/auth/token', guest));
}
