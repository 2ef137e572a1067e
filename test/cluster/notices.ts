import { setTimeout as wait } from 'node:timers/promises';
import { startHttpStub } from '../contract/channels/http-stub.ts';
import type { History } from './history.ts';
import { deviceId, exchangeJson, type HttpTarget } from './http-load.ts';

/** Rules of one user, and the receiver of what they tell. */
export interface Notices {
  /** Which deliveries the service knows of goes into the history; once all is quiet. */
  settle(target: HttpTarget): Promise<void>;
  close(): Promise<void>;
}

interface RuleAsked {
  readonly name: string;
  readonly sensor: string;
  readonly windowMs: number;
}

/** Makes a rule for each of these, which fires at every value, and receives its messages. */
export async function openNotices(
  history: History,
  target: HttpTarget,
  { token, rules }: { readonly token: string; readonly rules: readonly RuleAsked[] },
): Promise<Notices> {
  const names = new Map<string, string>();
  const stub = await startHttpStub({
    behaviour: 'accepts',
    answer({ body }) {
      const said = JSON.parse(body) as Readonly<Record<string, string>>;
      history.messages.push({
        ...{ rule: names.get(said['notification'] ?? '') ?? '', id: said['id'] ?? '' },
        ...{ mark: said['message'] ?? '', created: Date.parse(said['created'] ?? '') },
      });
      return { status: 204 };
    },
  });
  const api = `${target.url}/api/v2`;
  const webhook = [`${stub.url}/hook`];
  const done = await exchangeJson(`${api}/users/me`, { method: 'PUT', token, json: { webhook } });
  if (done?.status !== 204) throw new Error(`no profile: ${JSON.stringify(done)}`);
  for (const { name, sensor, windowMs } of rules) {
    const made = await exchangeJson(`${api}/notifications`, {
      ...{ method: 'POST', token },
      json: {
        condition: { devices: [deviceId], sensors: [sensor] },
        action: { usernames: ['ama'], channels: ['webhook'], message: `{${sensor}}` },
        ...(windowMs > 0 && { throttling: windowMs / 1_000 }),
      },
    });
    if (made?.status !== 200) throw new Error(`no rule: ${JSON.stringify(made)}`);
    names.set(String(made.json), name);
  }
  return {
    async settle({ url }) {
      for (const [id, name] of names) {
        const asked = rules.find((rule) => rule.name === name);
        const kept = await deliveriesOf(url, id, token);
        // The oldest that left are kept no more, and were received.
        for (const { rule, mark, created } of history.messages) {
          if (rule === name) kept.set(`${new Date(created).toISOString()} ${mark}`, mark);
        }
        if (asked !== undefined) history.rules.push({ ...asked, deliveries: [...kept.values()] });
      }
    },
    close: () => stub[Symbol.asyncDispose](),
  };
}

/** A process that was killed last may still be starting. */
const patienceMs = 30_000;

/** The texts of deliveries by what tells them apart. */
async function deliveriesOf(url: string, id: string, token: string): Promise<Map<string, string>> {
  const path = `${url}/api/v2/notifications/${id}/deliveries?limit=1000`;
  const giveUpAt = performance.now() + patienceMs;
  let reply = await exchangeJson(path, { token });
  while (reply?.status !== 200 && performance.now() < giveUpAt) {
    await wait(100);
    reply = await exchangeJson(path, { token });
  }
  if (reply?.status !== 200) throw new Error(`no deliveries: ${JSON.stringify(reply)}`);
  const all = reply.json as readonly { readonly message: string; readonly created: string }[];
  return new Map(
    all.map(({ message, created }) => [`${new Date(created).toISOString()} ${message}`, message]),
  );
}
