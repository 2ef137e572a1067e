import { backoffMs } from '../../src/lib/backoff.ts';
import { liveLimits } from './live-limits.ts';
import {
  type Bytes,
  createPacketReader,
  encodeConnect,
  encodeDisconnect,
  encodePing,
  encodePublish,
  encodeSubscribe,
  encodeUnsubscribe,
  type ServerPacket,
} from './mqtt-codec.ts';
import type { Timers } from './timers.ts';

/** A socket that carries bytes; a WebSocket with the subprotocol mqtt, or a stand-in. */
export interface Socket {
  send(bytes: Bytes): void;
  close(): void;
}

/** What a socket tells its owner. */
export interface SocketEvents {
  opened(): void;
  received(bytes: Uint8Array): void;
  /** Once, whatever the reason; nothing comes after it. */
  closed(): void;
}

/** Who is connecting; undefined is the guest. */
export interface Credentials {
  readonly username: string;
  readonly token: string;
}

export type ConnectionState = 'live' | 'connecting' | 'offline';

/** What a connection is made of. */
export interface ConnectionParts {
  readonly openSocket: (events: SocketEvents) => Socket;
  /** Asked before every attempt, so that a token that has ended is renewed by then. */
  readonly credentials: () => Promise<Credentials | undefined>;
  readonly timers: Timers;
  readonly random: () => number;
  readonly onMessage: (topic: string, payload: Uint8Array) => void;
  readonly onState: (state: ConnectionState) => void;
}

/** An MQTT connection that comes back by itself and remembers what it is subscribed to. */
export interface Connection {
  /** Counted: the filter stays until each of its subscribers has gone. */
  subscribe(filter: string): void;
  unsubscribe(filter: string): void;
  /** False when there is no connection; nothing is kept for later. */
  publish(topic: string, payload: string): boolean;
  /** Tries again now: the network is back, the page is looked at, somebody has logged in. */
  reconnect(): void;
  close(): void;
}

/** Connects at once. */
export function openConnection(parts: ConnectionParts): Connection {
  const { timers, onState } = parts;
  const filters = new Map<string, number>();
  let session: Session | undefined;
  let stopRetry: (() => void) | undefined;
  let failures = 0;
  let isClosed = false;
  // An attempt waits for credentials; whoever starts another one meanwhile makes it void.
  let attempt = 0;

  const publishState = (): void => {
    if (session?.isLive === true) onState('live');
    else onState(failures < liveLimits.attemptsUntilOffline ? 'connecting' : 'offline');
  };

  async function connect(): Promise<void> {
    attempt += 1;
    const own = attempt;
    publishState();
    const credentials = await parts.credentials().catch(() => undefined);
    if (isClosed || own !== attempt) return;
    session = startSession(parts, credentials, {
      ready: () => {
        failures = 0;
        session?.subscribe([...filters.keys()]);
        publishState();
      },
      ended: (wasLive) => {
        session = undefined;
        if (isClosed) return;
        // A connection that had been live is tried again soon: mostly its token has ended.
        failures = wasLive ? 0 : failures + 1;
        publishState();
        stopRetry = timers.after(retryDelayMs(failures, parts.random), () => void connect());
      },
    });
  }

  void connect();
  return {
    subscribe: (filter) => {
      const count = filters.get(filter) ?? 0;
      filters.set(filter, count + 1);
      if (count === 0) session?.subscribe([filter]);
    },
    unsubscribe: (filter) => {
      const count = filters.get(filter) ?? 0;
      if (count > 1) filters.set(filter, count - 1);
      else if (filters.delete(filter)) session?.unsubscribe([filter]);
    },
    publish: (topic, payload) => session?.publish(topic, payload) ?? false,
    reconnect: () => {
      if (isClosed) return;
      stopRetry?.();
      session?.end();
      session = undefined;
      failures = 0;
      void connect();
    },
    close: () => {
      isClosed = true;
      stopRetry?.();
      session?.end();
      session = undefined;
    },
  };
}

/** Differs from page to page: not all come back at one moment. */
export const retryDelayMs = (failures: number, random: () => number): number =>
  backoffMs(failures + 1, { minMs: liveLimits.retryMsMin, maxMs: liveLimits.retryMsMax, random });

interface Session {
  readonly isLive: boolean;
  subscribe(filters: readonly string[]): void;
  unsubscribe(filters: readonly string[]): void;
  publish(topic: string, payload: string): boolean;
  /** Leaves without a word to the owner. */
  end(): void;
}

interface SessionEvents {
  ready(): void;
  ended(wasLive: boolean): void;
}

/** One socket from its opening to its end. */
function startSession(
  { openSocket, timers, random, onMessage }: ConnectionParts,
  credentials: Credentials | undefined,
  events: SessionEvents,
): Session {
  const readPackets = createPacketReader(liveLimits.packetBytesMax);
  let state: 'opening' | 'live' | 'ended' = 'opening';
  let packetId = 0;
  let stopTimer = timers.after(liveLimits.answerMsMax, fail);

  const socket = openSocket({
    opened: () => {
      const clientId = `web-${Math.floor(random() * 2 ** 48).toString(36)}`;
      const { keepAliveSeconds } = liveLimits;
      const { username, token: password } = credentials ?? {};
      send(encodeConnect({ clientId, keepAliveSeconds, username, password }));
    },
    received: (bytes) => {
      if (state === 'ended') return;
      try {
        for (const packet of readPackets(bytes)) take(packet);
      } catch {
        // Whoever answers there does not speak MQTT; a new connection may find somebody who does.
        fail();
      }
    },
    closed: fail,
  });

  function take(packet: ServerPacket): void {
    if (state === 'ended') return;
    if (packet.type === 'connack') {
      if (packet.code === 0) begin();
      else fail();
    } else if (state === 'live' && packet.type === 'publish') {
      onMessage(packet.topic, packet.payload);
    }
    if (state === 'live') awaitSilence();
  }

  function begin(): void {
    state = 'live';
    events.ready();
  }

  function awaitSilence(): void {
    stopTimer();
    stopTimer = timers.after(liveLimits.keepAliveSeconds * 1000, () => {
      send(encodePing());
      stopTimer = timers.after(liveLimits.answerMsMax, fail);
    });
  }

  function send(bytes: Bytes): void {
    if (state === 'ended') return;
    try {
      socket.send(bytes);
    } catch {
      // A socket that is closing says so in a moment; its owner is told then.
      fail();
    }
  }

  function leave(): boolean {
    const wasLive = state === 'live';
    state = 'ended';
    stopTimer();
    socket.close();
    return wasLive;
  }

  function fail(): void {
    if (state !== 'ended') events.ended(leave());
  }

  function sendEach(
    filters: readonly string[],
    encode: (packetId: number, filters: readonly string[]) => Bytes,
  ): void {
    if (state !== 'live') return;
    for (let at = 0; at < filters.length; at += liveLimits.filtersPerPacketMax) {
      // Never 0 [MQTT-2.3.1-1].
      packetId = (packetId % 65_535) + 1;
      send(encode(packetId, filters.slice(at, at + liveLimits.filtersPerPacketMax)));
    }
  }

  return {
    get isLive() {
      return state === 'live';
    },
    subscribe: (filters) => sendEach(filters, encodeSubscribe),
    unsubscribe: (filters) => sendEach(filters, encodeUnsubscribe),
    publish: (topic, payload) => {
      if (state !== 'live') return false;
      send(encodePublish(topic, payload));
      return state === 'live';
    },
    end: () => {
      if (state === 'live') send(encodeDisconnect());
      if (state !== 'ended') leave();
    },
  };
}
