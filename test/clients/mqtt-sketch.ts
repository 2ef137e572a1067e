import assert from 'node:assert/strict';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { connectPackets } from '../mqtt/packet-client.ts';

/** Where it dials and as whom; a sketch without a login leaves both out. */
export interface SketchOptions {
  readonly url: string;
  readonly clientId: string;
  readonly username?: string;
  readonly password?: string;
  /** Last words, for those who watch the board. */
  readonly will?: { readonly topic: string; readonly payload: string };
}

/** MQTT as small libraries on boards speak it: 3.1.1, QoS 0 out, one thing at a time. */
export interface MqttSketch extends Disposable {
  /** Connects; the code of the answer, 0 when it is let in. */
  readonly state: number;
  publish(topic: string, payload: string): void;
  subscribe(topic: string): Promise<number>;
  /** Resolves when the ping is answered: all that was sent before has been read. */
  loop(): Promise<void>;
  /** The next message, as topic and payload. */
  message(): Promise<readonly [string, string]>;
  /** True when the other side closed and nothing else came. */
  isClosed(): Promise<boolean>;
  disconnect(): void;
}

const keepAliveSeconds = 15;

export async function openSketch(options: SketchOptions): Promise<MqttSketch> {
  const { url, clientId, username, password, will } = options;
  const client = await connectPackets(Number(new URL(url).port));
  const waiting: (readonly [string, string])[] = [];

  /** A byte at a time, as radio modules hand it on. */
  function send(packet: Packet): void {
    for (const byte of mqttPacket.generate(packet)) client.send(Buffer.of(byte));
  }

  /** The next packet that is no message; messages wait until they are asked for. */
  async function receive(): Promise<Packet | undefined> {
    const bytes = await client.receive();
    if (bytes === undefined) return undefined;
    const packet = decoded(bytes);
    if (packet.cmd !== 'publish') return packet;
    waiting.push([packet.topic, String(packet.payload)]);
    return receive();
  }

  send({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clean: true,
    keepalive: keepAliveSeconds,
    clientId,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: Buffer.from(password) }),
    ...(will !== undefined && {
      will: { ...will, payload: Buffer.from(will.payload), qos: 0, retain: false },
    }),
  });
  const answer = await receive();
  assert.ok(answer?.cmd === 'connack');
  return {
    state: answer.returnCode ?? -1,
    publish: (topic, payload) =>
      send({ cmd: 'publish', topic, payload, qos: 0, dup: false, retain: false }),
    async subscribe(topic) {
      send({ cmd: 'subscribe', messageId: 2, subscriptions: [{ topic, qos: 0 }] });
      const packet = await receive();
      assert.ok(packet?.cmd === 'suback');
      return Number(packet.granted[0]);
    },
    async loop() {
      send({ cmd: 'pingreq' });
      assert.equal((await receive())?.cmd, 'pingresp');
    },
    async message() {
      const known = waiting.shift();
      if (known !== undefined) return known;
      const bytes = await client.receive();
      assert.ok(bytes !== undefined, 'the connection ended');
      const packet = decoded(bytes);
      assert.ok(packet.cmd === 'publish', packet.cmd);
      return [packet.topic, String(packet.payload)];
    },
    isClosed: async () => (await client.receive()) === undefined,
    disconnect: () => send({ cmd: 'disconnect' }),
    [Symbol.dispose]: () => client.close(),
  };
}

function decoded(bytes: Buffer): Packet {
  const parser = mqttPacket.parser({ protocolVersion: 4 });
  let packet: Packet | undefined;
  parser.on('packet', (found) => {
    packet = found;
  });
  parser.parse(bytes);
  assert.ok(packet !== undefined, `no packet: ${bytes.toString('hex')}`);
  return packet;
}
