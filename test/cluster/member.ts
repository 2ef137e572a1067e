import { setTimeout as wait } from 'node:timers/promises';
import { type ServiceProcess, startProcess } from '../service-process.ts';
import type { History } from './history.ts';
import { openProxy, type TcpProxy } from './tcp-proxy.ts';

/** A process of Kipimo behind links of its own, which is started again when it ends. */
export interface Member {
  readonly name: string;
  /** Of HTTP and MQTT, the same for all its lives. */
  readonly url: string;
  readonly door: TcpProxy;
  readonly database: TcpProxy;
  /** The process that runs now; undefined between two lives. */
  running(): ServiceProcess | undefined;
  /** How often it was started. */
  lives(): number;
  /** Whether it says that it is ready. */
  isReady(): Promise<boolean>;
  /** Ends it for good. */
  close(): Promise<void>;
}

export interface MemberOptions {
  readonly name: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Where its link to the database leads. */
  readonly databasePort: number;
  /** The URL of the database by the port of that link. */
  databaseUrl(port: number): string;
  readonly history: History;
  /** What it runs at first, until it is started again; absent: this version. */
  readonly firstProgram?: string | undefined;
}

/** What a process may say when it ends by itself: others took its place. */
const mayEnd =
  /another process of Kipimo serves this database now|other processes of Kipimo gave this one up/;
/** A start that finds no database ends, and is tried again. */
const startAgainMs = 250;

/** Opens its links, starts it, and keeps it running. */
export async function startMember(options: MemberOptions): Promise<Member> {
  const { name, directory, environment, history } = options;
  const database = await openProxy(options.databasePort);
  const door = await openProxy();
  let running: ServiceProcess | undefined;
  let isOver = false;
  let lives = 0;

  async function live(onListening: () => void): Promise<void> {
    const KIPIMO_DATABASE_URL = options.databaseUrl(database.port);
    const program = lives === 0 ? options.firstProgram : undefined;
    const process = await startProcess({
      directory,
      ...(program !== undefined && { program }),
      environment: { ...environment, KIPIMO_DATABASE_URL },
    }).catch(() => undefined);
    if (process === undefined) {
      await wait(startAgainMs);
      return;
    }
    // It was ended for good while it started.
    if (isOver) process.kill('SIGKILL');
    running = process;
    lives += 1;
    door.lead(Number(new URL(process.url).port));
    onListening();
    const { code } = await process.exited;
    running = undefined;
    if (code !== null && code !== 0 && !mayEnd.test(process.output() + process.errors())) {
      const told = `${process.errors()}${process.output()}`.slice(-2_000);
      history.oddities.push(`${name} ended by itself with ${code}: ${told}`);
    }
  }

  const { promise: listening, resolve: listen } = Promise.withResolvers<void>();
  const ended = (async () => {
    while (!isOver) await live(listen);
  })();
  await listening;
  const url = `http://127.0.0.1:${door.port}`;
  return {
    ...{ name, url, door, database },
    running: () => running,
    lives: () => lives,
    async isReady() {
      const reply = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(
        () => undefined,
      );
      await reply?.arrayBuffer().catch(() => undefined);
      return reply?.status === 200;
    },
    async close() {
      isOver = true;
      running?.kill('SIGKILL');
      await ended;
      await door.close();
      await database.close();
    },
  };
}
