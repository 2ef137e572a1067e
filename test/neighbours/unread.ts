import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Neighbourhood } from './neighbours.ts';

/** A connection that asks and does not read what it is answered. */
export interface Sulker {
  readonly socket: Socket;
  readonly isClosed: boolean;
}

/** Asks for paths, one after the other, and reads nothing; undefined: it was not let in. */
export async function sulk(
  world: Neighbourhood,
  paths: readonly string[],
  token?: string,
): Promise<Sulker> {
  const { hostname, port } = new URL(world.url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let isClosed = false;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
  });
  const login = token === undefined ? '' : `authorization: Bearer ${token}\r\n`;
  for (const path of paths) {
    socket.write(`GET /api/v2${path} HTTP/1.1\r\nhost: a\r\n${login}\r\n`);
  }
  return {
    socket,
    get isClosed() {
      return isClosed;
    },
  };
}

const kibibyte = 1_024;

/** What the program holds of the machine's memory, in MiB. */
export function residentMebibytes(pid: number): number {
  const [, kibibytes = '0'] =
    /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kibibytes) / kibibyte);
}

/** How long the write-ahead log of the database is, in MiB. */
export function walMebibytes(directory: string): number {
  const names = readdirSync(directory).filter((name) => name.endsWith('-wal'));
  const bytes = names.map((name) => statSync(join(directory, name)).size);
  return Math.round(bytes.reduce((sum, size) => sum + size, 0) / kibibyte / kibibyte);
}
