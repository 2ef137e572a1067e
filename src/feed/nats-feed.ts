import type { NatsConnection } from '@nats-io/transport-node';
import type { FeedLog } from '../domain/members/feed-log.ts';
import { memberLimits } from '../domain/members/member-limits.ts';
import type { NatsSetting } from '../domain/members/nats-setting.ts';
import type { Log } from '../lib/log.ts';
import { signText } from '../lib/secret-token.ts';

/** Says to the other processes that there is something to read. What is said may be lost. */
export interface Hints {
  /** Soon, and once for all that asks at the same time; nothing while NATS is away. */
  say(): void;
  /** Calls back when another process said so, or may have while NATS was away. */
  onHint(listener: () => void): () => void;
  isConnected(): boolean;
  close(): Promise<void>;
}

/**
 * Hints over NATS, between the processes of one installation. It connects by itself, again and
 * again, and nobody waits for it: what has to arrive is in the database, and looked for there.
 */
export function openNatsHints(options: {
  readonly setting: NatsSetting;
  /** Tells installations on one NATS apart; it is not sent. */
  readonly installationSecret: string;
  readonly log: Log;
}): Hints {
  const { log } = options;
  const subject = subjectOf(options.installationSecret);
  const listeners = new Set<() => void>();
  let connection: NatsConnection | undefined;
  /** Undefined: nobody knows yet. */
  let isConnected: boolean | undefined;
  let isOver = false;
  let isAsked = false;
  let timer: NodeJS.Timeout | undefined;
  const hear = (): void => {
    for (const listener of listeners) listener();
  };

  function tell(next: boolean): void {
    if (isConnected === next) return;
    isConnected = next;
    if (next) log.info({}, 'NATS was reached');
    else if (!isOver) log.warn({}, 'NATS is away: other processes hear a little later');
    // What was said meanwhile nobody heard.
    if (next) hear();
  }

  /** Once it was reached the package connects again by itself. */
  async function live(): Promise<void> {
    connection = await connectTo(options.setting);
    if (isOver) return connection.close();
    connection.subscribe(subject, { callback: hear });
    tell(true);
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') tell(false);
      if (type === 'reconnect') tell(true);
    }
  }

  async function keepAlive(): Promise<void> {
    try {
      await live();
    } catch (error) {
      log.debug({ err: error }, 'NATS could not be reached');
    }
    connection = undefined;
    tell(false);
    if (!isOver) timer = setTimeout(() => void keepAlive(), memberLimits.natsAgainMs).unref();
  }

  function flush(): void {
    isAsked = false;
    // Nothing is kept for a server that is away.
    if (isConnected !== true) return;
    try {
      connection?.publish(subject);
    } catch (error) {
      log.debug({ err: error }, 'NATS took no hint');
    }
  }

  void keepAlive();
  return {
    say() {
      if (isAsked || isConnected !== true) return;
      isAsked = true;
      setImmediate(flush);
    },
    onHint(listener) {
      const own = (): void => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    isConnected: () => isConnected === true,
    async close() {
      isOver = true;
      clearTimeout(timer);
      await connection?.close().catch(() => undefined);
    },
  };
}

/** The same at all processes of an installation, and at no other one. */
const subjectOf = (secret: string): string => `kp.${signText(secret, 'nats')}.wake`;

async function connectTo({ servers, isTls, ...who }: NatsSetting): Promise<NatsConnection> {
  const { connect } = await import('@nats-io/transport-node');
  return connect({
    ...{ ...who, servers: [...servers], name: 'kipimo', noEcho: true },
    ...(isTls && { tls: {} }),
    ...{ timeout: memberLimits.natsConnectMs, maxReconnectAttempts: -1 },
    ...{ reconnectTimeWait: memberLimits.natsAgainMs, pingInterval: memberLimits.natsPingMs },
    maxPingOut: 2,
  });
}

/** The log, whose writers and readers say so over NATS as well. */
export function withHints(log: FeedLog, hints: Hints): FeedLog {
  return {
    ...log,
    async append(text, settled) {
      const position = await log.append(text, settled);
      if (position !== undefined) hints.say();
      return position;
    },
    async acknowledge() {
      await log.acknowledge();
      hints.say();
    },
    onNews(listener) {
      const ends = [log.onNews(listener), hints.onHint(listener)];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}
