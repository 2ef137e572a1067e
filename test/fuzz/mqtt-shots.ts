import mqttPacket, { type Packet } from 'mqtt-packet';
import type { Random } from './random.ts';

/** Who connects; undefined fields are left out of the CONNECT. */
export interface MqttCredential {
  readonly username?: string;
  readonly password?: string;
}

const filters: readonly string[] = [
  ...['#', '+/+/+/+/+', 'devices/+/sensors/+/value', '$share/workers/#', '$SYS/#', 'devices/D1/#'],
  ...['$share//#', '+'.repeat(40), `${'+/'.repeat(200)}#`, '', '\0', 'devices/__proto__/#'],
];
const topics: readonly string[] = [
  ...[
    'devices/D1/sensors/TC1/value',
    'devices/D1/sensors/TC1/values',
    'devices/D2/sensors/SM1/value',
  ],
  ...['devices/D1/actuators/pump/value', 'devices/D1/tunnel-up/x', 'gateways/G1/x', '$SYS/x', 'x'],
  ...['devices/constructor/sensors/__proto__/value', 'devices/D1/sensors/TC1/value/'],
];

/** The bytes of a conversation: valid packets, some of them damaged. */
export function mqttShot(random: Random, credential: MqttCredential): Buffer {
  const protocolVersion = random.pick([3, 4, 5] as const);
  const packets: Packet[] = [connectPacket(random, credential, protocolVersion)];
  const count = random.below(12);
  for (let index = 0; index < count; index += 1) packets.push(packetOf(random, index + 1));
  const written = packets.flatMap((packet) => {
    try {
      return [mqttPacket.generate(packet, { protocolVersion })];
    } catch {
      // What the writer of packets refuses is left to the damage below.
      return [];
    }
  });
  return damaged(written, random);
}

function connectPacket(
  random: Random,
  { username, password }: MqttCredential,
  protocolVersion: 3 | 4 | 5,
): Packet {
  return {
    cmd: 'connect',
    protocolId: protocolVersion === 3 ? 'MQIsdp' : 'MQTT',
    protocolVersion,
    clientId: `f${random.below(40)}`,
    clean: random.once(2),
    keepalive: random.pick([0, 1, 60, 65_535]),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: Buffer.from(password) }),
    ...(random.once(3) && {
      will: {
        topic: random.pick(topics),
        payload: payloadOf(random),
        qos: random.pick([0, 1, 2] as const),
        retain: random.once(2),
        ...(protocolVersion === 5 && { properties: { willDelayInterval: random.below(100_000) } }),
      },
    }),
    ...(protocolVersion === 5 && {
      properties: {
        sessionExpiryInterval: random.pick([0, 5, 4_294_967_295]),
        receiveMaximum: 1 + random.below(100),
      },
    }),
  };
}

function packetOf(random: Random, messageId: number): Packet {
  switch (random.below(8)) {
    case 0: {
      const length = random.once(30) ? 2_000 : 1 + random.below(4);
      const subscriptions = Array.from({ length }, () => ({
        topic: random.pick(filters),
        qos: random.pick([0, 1, 2] as const),
      }));
      return { cmd: 'subscribe', messageId, subscriptions };
    }
    case 1:
      return { cmd: 'unsubscribe', messageId, unsubscriptions: [random.pick(filters)] };
    case 2:
      return { cmd: 'pingreq' };
    case 3:
      return { cmd: random.pick(['puback', 'pubrec', 'pubrel', 'pubcomp'] as const), messageId };
    case 4:
      return { cmd: 'connack', returnCode: 0, sessionPresent: false };
    default:
      return {
        cmd: 'publish',
        topic: random.pick(topics),
        payload: payloadOf(random),
        qos: random.pick([0, 1, 2] as const),
        messageId,
        dup: random.once(5),
        retain: random.once(4),
      };
  }
}

function payloadOf(random: Random): Buffer {
  if (random.once(8)) return random.bytes(random.below(2_000));
  if (random.once(40)) return Buffer.alloc(300_000, '1');
  return Buffer.from(
    random.pick(['', '{"value": 1}', '25.5', '[1,2]', '{"value":{"__proto__":1}}', 'NaN', '[{}]']),
  );
}

function damaged(packets: readonly Buffer[], random: Random): Buffer {
  const list = packets.map((packet) => Buffer.from(packet));
  const changes = random.below(4);
  for (let change = 0; change < changes; change += 1) {
    // CONNECT is spared more often than not: behind it is more to be found.
    const index = random.once(4) ? 0 : random.below(list.length);
    const packet = list[index];
    if (packet === undefined || packet.length === 0) continue;
    const at = random.below(packet.length);
    if (random.below(3) > 0) packet[at] = random.below(256);
    else if (random.once(2)) list[index] = packet.subarray(0, at);
    else list.splice(random.below(list.length + 1), 0, packet);
  }
  return Buffer.concat(list);
}
