import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import mqttPacket, { type Packet } from 'mqtt-packet';
import type { History } from './history.ts';
import type { HttpTarget, Load } from './http-load.ts';

/** A connection as long as it lasts. */
export interface MqttLink {
  send(packet: Packet): void;
}

export interface MqttClientOptions {
  readonly clientId: string;
  readonly history: History;
  /** Tried in turn. */
  readonly targets: readonly HttpTarget[];
  /** Of the account it logs in with; absent: a guest. */
  readonly account?: { readonly username: string; readonly password: string };
  /** Sent with CONNECT. */
  will?(): { readonly topic: string; readonly payload: string };
  onConnected(link: MqttLink, isSessionPresent: boolean): void;
  onPacket(link: MqttLink, packet: Packet): void;
  /** The connection is over. */
  onEnded?(): void;
}

/** A client with a session that is kept, which connects again whenever its connection is lost. */
export interface MqttClient extends Load {
  /** Ends the connection without a goodbye. */
  breakOff(): void;
  /** The connection there is now. */
  link(): MqttLink | undefined;
}

const version = 5;
const sessionSeconds = 3_600;
const pauseMs = 150;
/** A service that says nothing for so long is not waited for. */
const pingMs = 2_000;
const silenceMsMax = 6_000;

export function startClient(options: MqttClientOptions): MqttClient {
  const { clientId, history, targets, account } = options;
  let isOver = false;
  let socket: Socket | undefined;
  let link: MqttLink | undefined;
  // Not all at the first.
  let at = clientId.charCodeAt(clientId.length - 1);

  const willOf = ({ topic, payload }: { topic: string; payload: string }) => ({
    ...{ topic, payload: Buffer.from(payload), qos: 2 as const, retain: false },
  });
  const connectPacket = (): Packet => ({
    ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: version, clientId, clean: false },
    ...{ keepalive: 60, properties: { sessionExpiryInterval: sessionSeconds } },
    ...(account !== undefined && {
      username: account.username,
      password: Buffer.from(account.password),
    }),
    ...(options.will !== undefined && { will: willOf(options.will()) }),
  });

  async function live(): Promise<void> {
    const own = connect({
      ...{ port: Number(new URL(targets[at % targets.length]?.url ?? '').port), noDelay: true },
      host: '127.0.0.1',
    });
    socket = own;
    own.on('error', () => undefined);
    const current: MqttLink = {
      send: (packet) => {
        if (!own.destroyed) own.write(mqttPacket.generate(packet, { protocolVersion: version }));
      },
    };
    let heardAt = performance.now();
    let askedAt = heardAt;
    const connected = { client: clientId, from: 0, until: Number.POSITIVE_INFINITY };
    const parser = mqttPacket.parser({ protocolVersion: version });
    parser.on('packet', (packet) => {
      heardAt = performance.now();
      if (packet.cmd !== 'connack') options.onPacket(current, packet);
      else if (packet.reasonCode === 0) {
        connected.from = heardAt;
        history.connected.push(connected);
        const ms = heardAt - askedAt;
        if (packet.sessionPresent) history.takeovers.push({ at: askedAt, ms });
        link = current;
        options.onConnected(current, packet.sessionPresent);
      } else own.destroy();
    });
    parser.on('error', (error) => {
      history.oddities.push(`${clientId} was sent what is no MQTT: ${error.message}`);
      own.destroy();
    });
    own.on('data', (bytes) => void parser.parse(bytes));
    own.on('end', () => own.destroy());
    const watch = setInterval(() => {
      if (performance.now() - heardAt > silenceMsMax) own.destroy();
      else if (link === current) current.send({ cmd: 'pingreq' });
    }, pingMs);
    own.once('connect', () => {
      askedAt = performance.now();
      current.send(connectPacket());
    });
    if (!own.destroyed) await once(own, 'close').catch(() => undefined);
    clearInterval(watch);
    connected.until = performance.now();
    link = undefined;
    options.onEnded?.();
    at += 1;
    if (!isOver) await wait(pauseMs);
  }

  const ended = (async () => {
    while (!isOver) await live();
  })();
  return {
    link: () => link,
    breakOff: () => void socket?.destroy(),
    async stop() {
      isOver = true;
      link?.send({ cmd: 'disconnect' });
      socket?.destroySoon();
      setTimeout(() => socket?.destroy(), 500);
      await ended;
    },
  };
}
