import { publishPacket } from './mqtt-packets.ts';
import { bodyOf, deviceIds, sensorIds } from './traffic.ts';

/** Topics of all sensors, in the order of `sensorPaths`. */
export const sensorTopics: readonly string[] = sensorIds.flatMap((sensorId) =>
  deviceIds.map((deviceId) => `devices/${deviceId}/sensors/${sensorId}/value`),
);

/** Publishes of one value each: sensors take turns, and every timestamp comes once. */
export interface PublishTraffic {
  /** Bytes of the longest packet. */
  readonly packetBytesMax: number;
  next(): number;
  /** Writes the PUBLISH (QoS 1) into `target`, and answers where it ends. */
  write(target: Buffer, at: number, sequence: number, packetId: number): number;
  acknowledge(sequence: number): void;
  /** How many publishes to each of `sensorTopics` were acknowledged. */
  readonly acknowledged: Uint32Array;
}

/** `startAt` is the timestamp of the first value; each further one is a millisecond later. */
export function createPublishTraffic(startAt: number): PublishTraffic {
  const acknowledged = new Uint32Array(sensorTopics.length);
  const payloadBytes = bodyOf(0, startAt).length;
  const templates = sensorTopics.map((topic) => publishPacket(topic, payloadBytes));
  let sequences = 0;
  return {
    packetBytesMax: Math.max(...templates.map(({ bytes }) => bytes.length)),
    acknowledged,
    next() {
      sequences += 1;
      return sequences - 1;
    },
    write(target, at, sequence, packetId) {
      const template = templates[sequence % templates.length];
      if (template === undefined) return at;
      target.set(template.bytes, at);
      target.writeUInt16BE(packetId, at + template.idAt);
      target.write(bodyOf(sequence, startAt + sequence), at + template.payloadAt, 'latin1');
      return at + template.bytes.length;
    },
    acknowledge(sequence) {
      const sensor = sequence % templates.length;
      acknowledged[sensor] = (acknowledged[sensor] ?? 0) + 1;
    },
  };
}
