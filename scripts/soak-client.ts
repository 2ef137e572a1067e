import { Agent, request } from 'node:http';
import { type MqttConnection, openMqttConnection } from '../tools/bench/mqtt-connection.ts';
import { packetTypes, publishPacket } from '../tools/bench/mqtt-packets.ts';

const connectionsMax = 32;

/** Talks to a service over kept connections, as many devices and people would. */
export interface SoakClient {
  /** From now on requests carry this token. */
  authorize(token: string): void;
  /** Answers the status and the body. */
  call(method: string, path: string, body?: string): Promise<{ status: number; text: string }>;
  close(): void;
}

export function createSoakClient(url: string, first?: string): SoakClient {
  let token = first;
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
  return {
    authorize(next) {
      token = next;
    },
    call: (method, path, body) =>
      new Promise((resolve, reject) => {
        const headers = {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
        };
        const asked = request(url + path, { method, agent, headers }, (answer) => {
          const pieces: Buffer[] = [];
          answer.on('data', (piece: Buffer) => pieces.push(piece));
          answer.on('error', reject);
          answer.on('end', () => {
            resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString() });
          });
        });
        asked.on('error', reject);
        asked.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** A connection that publishes with QoS 1, one after the other. */
export interface SoakPublisher {
  /** Resolves with the PUBACK; rejects once the service has closed the connection. */
  publish(topic: string, payload: string): Promise<void>;
  close(): void;
}

export interface SoakLogin {
  readonly port: number;
  readonly clientId: string;
  readonly username: string;
  readonly password: string;
}

const readBytes = 65_536;

/** `onFailure` hears when the service closes it. */
export async function openSoakConnection(
  { port, ...login }: SoakLogin,
  onFailure: (error: Error) => void = () => undefined,
): Promise<MqttConnection> {
  const buffer = Buffer.allocUnsafe(readBytes);
  return openMqttConnection({ port, login, buffer, onFailure });
}

export async function openSoakPublisher(login: SoakLogin): Promise<SoakPublisher> {
  const waiting: PromiseWithResolvers<void>[] = [];
  let failure: Error | undefined;
  const connection = await openSoakConnection(login, (error) => {
    failure = error;
    for (const { reject } of waiting.splice(0)) reject(error);
  });
  connection.listen((first) => {
    if (first >> 4 === packetTypes.puback) waiting.shift()?.resolve();
  });
  let packetId = 0;
  return {
    publish(topic, payload) {
      if (failure !== undefined) return Promise.reject(failure);
      const text = Buffer.from(payload);
      const { bytes, idAt, payloadAt } = publishPacket(topic, text.length);
      packetId = (packetId % 65_535) + 1;
      bytes.writeUInt16BE(packetId, idAt);
      text.copy(bytes, payloadAt);
      connection.write(bytes);
      const answer = Promise.withResolvers<void>();
      waiting.push(answer);
      return answer.promise;
    },
    close: () => connection.close(),
  };
}
