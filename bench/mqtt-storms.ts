import { setTimeout as wait } from 'node:timers/promises';
import { generate, type Packet } from 'mqtt-packet';
import WebSocket from 'ws';
import type { RawClient } from '../test/neighbours/raw-mqtt.ts';
import { connectPacket, numbers, type StormContext, type Storms } from './storm-context.ts';

const endAll = (clients: readonly RawClient[]): void => {
  for (const client of clients) client.drop();
};

const subscribing = (topics: readonly string[]): Packet => ({
  ...{ cmd: 'subscribe', messageId: 7 },
  subscriptions: topics.map((topic) => ({ topic, qos: 1 })),
});

/** Clients that come and go at once. */
export const clientStorms = ({ service, mqttOf }: StormContext): Storms => ({
  '300 MQTT connects at once': async () => {
    const clients = await mqttOf(300);
    await wait(300);
    const answer = clients.filter(({ isClosed }) => !isClosed).length;
    endAll(clients);
    return answer;
  },
  '300 MQTT clients close at once': async () => {
    const clients = await mqttOf(300);
    await wait(1_000);
    await service.holds();
    endAll(clients);
    return clients.length;
  },
});

/** Subscriptions by the thousand. */
export const subscriptionStorms = ({ mqtt, mqttOf }: StormContext): Storms => ({
  '5,000 subscriptions, unsubscribed at once': async () => {
    const client = await mqtt(1);
    const topics = numbers(5_000).map((n) => `a/${n}/b/+/c/${n}`);
    for (let from = 0; from < topics.length; from += 500) {
      await client.send(subscribing(topics.slice(from, from + 500)));
      await client.next('suback');
    }
    await client.send({ cmd: 'unsubscribe', messageId: 9, unsubscriptions: [...topics] });
    await client.next('unsuback');
    client.drop();
    return client.packets.length;
  },
  '5,000 subscriptions in one packet, then gone': async () => {
    const client = await mqtt(1);
    await client.send(subscribing(numbers(5_000).map((n) => `x/${n}/b/+/c/${n}`)));
    await client.next('suback');
    client.drop();
    return client.packets.length;
  },
  '20 clients of 1,000 subscriptions, gone at once': async () => {
    const clients = await mqttOf(20);
    for (const client of clients) {
      await client.send(subscribing(numbers(1_000).map((n) => `x/${n}/b/+/c/${n}`)));
      await client.next('suback');
    }
    endAll(clients);
    return clients.length;
  },
});

/** Clients that send one packet again and again as fast as it is read, half of them bytewise. */
async function flood({ mqttOf }: StormContext, packet: Packet): Promise<number> {
  const clients = await mqttOf(60);
  const bytes = generate(packet, { protocolVersion: 5 });
  const until = performance.now() + 4_000;
  await Promise.all(
    clients.map(async (client, at) => {
      while (performance.now() < until && !client.isClosed) {
        for (const byte of at % 2 === 0 ? [bytes] : bytes) {
          await client.send(typeof byte === 'number' ? Buffer.of(byte) : byte);
          if (typeof byte === 'number') await wait(0);
        }
      }
    }),
  );
  endAll(clients);
  return clients.length;
}

const publishTo = (deviceId: string): Packet => ({
  ...{ cmd: 'publish', topic: `devices/${deviceId}/sensors/s/value`, payload: 'a value {' },
  ...{ qos: 1, messageId: 1, dup: false, retain: false },
});

/** Packets in pieces of a byte. */
export const packetStorms = (context: StormContext): Storms => ({
  'packets of 1 byte beside pushes': () => flood(context, publishTo('filled-1')),
  'packets of 1 byte beside refusals': () => flood(context, publishTo('nothing')),
  'packets of 1 byte beside UNSUBSCRIBE': () =>
    flood(context, { cmd: 'unsubscribe', messageId: 1, unsubscriptions: ['a/+/b', 'c/#'] }),
  'WebSocket, frames of 1 byte': async () => {
    const web = new WebSocket(`${context.service.url.replace('http', 'ws')}/mqtt`, 'mqtt');
    await new Promise((resolve) => web.on('open', resolve));
    web.on('error', () => undefined);
    web.send(generate(connectPacket('web'), { protocolVersion: 5 }));
    const publish = generate(
      {
        ...{ cmd: 'publish', topic: 'guest/web', payload: 'x'.repeat(50_000), qos: 0 },
        ...{ dup: false, retain: false },
      },
      { protocolVersion: 5 },
    );
    for (const byte of publish) web.send(Buffer.of(byte));
    await wait(2_000);
    web.terminate();
    return web.readyState;
  },
});
