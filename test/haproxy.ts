import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './postgres-server.ts';

/** Whether Debian's package haproxy is installed. */
export const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0;

/** HAProxy with the configuration that we give to operators. */
export interface Haproxy extends AsyncDisposable {
  readonly url: string;
  readonly mqttUrl: string;
}

/** Ports of 127.0.0.1 at which a process listens, or will. */
export interface Doors {
  readonly http: number;
  readonly mqtt: number;
}

const configurationFile = new URL('../deploy/haproxy.cfg', import.meta.url);
const startMsMax = 10_000;

/** Replaces what is there a certain number of times; throws where it is not. */
export function replace(text: string, pattern: RegExp, times: number, by: string): string {
  const found = [...text.matchAll(pattern)].length;
  if (found !== times) throw new Error(`${pattern} is there ${found} times`);
  return text.replace(pattern, by);
}

/** The configuration as it stands, but for the addresses. */
function configurationFor(processes: readonly Doors[], own: Doors): string {
  const servers = (port: (doors: Doors) => string): string =>
    processes.map((doors, at) => `    server kipimo${at} ${port(doors)}`).join('\n');
  const template = (port: string) =>
    new RegExp(`^    server-template kipimo 1-16 kipimo:${port} (.*) resolvers names .*$`, 'gm');
  let text = readFileSync(configurationFile, 'utf8');
  text = replace(text, /^ {4}bind :8080$/gm, 1, `    bind 127.0.0.1:${own.http}`);
  text = replace(text, /^ {4}bind :1883$/gm, 1, `    bind 127.0.0.1:${own.mqtt}`);
  text = replace(text, /^ {4}log stdout format raw local0\n/gm, 1, '');
  text = replace(text, /^ {4}maxconn 100000$/gm, 1, '    maxconn 1000');
  text = replace(
    text,
    template('8080'),
    1,
    servers(({ http }) => `127.0.0.1:${http} $1`),
  );
  text = replace(text, / check port 8080 /g, 1, ' check port CHECKED ');
  text = replace(
    text,
    template('1883'),
    1,
    servers(({ mqtt }) => `127.0.0.1:${mqtt} $1`),
  );
  for (const { http } of processes) text = text.replace('CHECKED', `${http}`);
  return text;
}

/** Starts it before these processes; `directory` takes its configuration. */
export async function startHaproxy(
  directory: string,
  processes: readonly Doors[],
): Promise<Haproxy> {
  const own = { http: await freePort(), mqtt: await freePort() };
  const ends = await launchHaproxy(directory, configurationFor(processes, own), own.http);
  return {
    url: `http://127.0.0.1:${own.http}`,
    mqttUrl: `mqtt://127.0.0.1:${own.mqtt}`,
    ...ends,
  };
}

/** Starts it with this configuration, and resolves when it listens at the port. */
export async function launchHaproxy(
  directory: string,
  configuration: string,
  port: number,
): Promise<AsyncDisposable> {
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, configuration);
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const exited = once(child, 'exit');
  const giveUpAt = performance.now() + startMsMax;
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() > giveUpAt) {
      child.kill('SIGKILL');
      throw new Error(`haproxy does not start: ${said}`);
    }
    await wait(20);
  }
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
