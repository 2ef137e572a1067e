import { connect, type Socket } from 'node:net';
import type { Packet } from 'mqtt-packet';
import { openRaw, type RawClient } from '../test/neighbours/raw-mqtt.ts';
import type { MeteredService } from './metered-service.ts';

/** What strangers do at once, by its name; each answers something that shows that it was done. */
export type Storms = Readonly<Record<string, () => Promise<unknown>>>;

interface Sent {
  readonly token?: string;
  readonly body?: string;
}

/** Each of many clients from an address of its own: a guest may open few connections. */
const addressOf = (at: number): string => `127.0.${1 + (at >> 7)}.${1 + (at & 127)}`;
export const numbers = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, n) => n);

export const connectPacket = (clientId: string, more: Partial<Packet> = {}): Packet =>
  ({
    ...{ cmd: 'connect', clientId, protocolVersion: 5, clean: true, keepalive: 60 },
    ...{ properties: { sessionExpiryInterval: 0 }, ...more },
  }) as Packet;

/** A service with so many public devices, an account that has just signed up, and clients. */
export async function createContext(service: MeteredService, devices: number) {
  const call = async (method: string, path: string, { token, body }: Sent = {}) => {
    const answer = await fetch(`${service.url}/api/v2${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const login = async (username: string, password: string): Promise<string> =>
    (await call('POST', '/auth/token', { body: JSON.stringify({ username, password }) })).text;
  const signUp = async (username: string): Promise<string> => {
    const password = 'a fresh password';
    await call('POST', '/users', { body: JSON.stringify({ username, password }) });
    return login(username, password);
  };
  const status = async (...request: Parameters<typeof call>): Promise<string> => {
    const answers: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const { status: code, text } = await call(...request);
      answers.push(`${code} (${text.length})`);
    }
    return answers.at(-1) ?? '';
  };
  const mqtt = async (at: number, packet: Packet = connectPacket(`c${at}`)): Promise<RawClient> => {
    const client = await openRaw(service.mqttUrl, addressOf(at));
    await client.send(packet);
    await client.next('connack');
    return client;
  };
  const open = (at: number, url: string): Promise<Socket> =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(url);
      const socket = connect({ host: hostname, port: Number(port), localAddress: addressOf(at) });
      socket.on('error', () => undefined);
      socket.on('connect', () => resolve(socket));
    });
  const mqttOf = (count: number, packetOf?: (at: number) => Packet): Promise<RawClient[]> =>
    Promise.all(numbers(count).map((at) => mqtt(at, packetOf?.(at))));
  const token = await signUp('fresh');
  return { service, devices, call, login, signUp, status, mqtt, mqttOf, open, token };
}
export type StormContext = Awaited<ReturnType<typeof createContext>>;
