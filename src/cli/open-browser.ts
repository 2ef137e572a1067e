import { spawn } from 'node:child_process';
import { environmentOfOthers } from '../config/environment-file.ts';

/** The program of each platform that opens an address in the browser that is set there. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens an address in the browser and does not wait for it; says in one line if there is none. */
export function openInBrowser(address: string): void {
  const [program, ...words] = openers[process.platform] ?? ['xdg-open'];
  const complain = (): void => {
    process.stderr.write(`kipimo: ${program} could not open a browser\n`);
  };
  const child = spawn(program, [...words, address], {
    detached: true,
    stdio: 'ignore',
    env: environmentOfOthers(),
  });
  child.once('error', complain);
  child.once('exit', (code) => {
    if (code !== 0 && code !== null) complain();
  });
  child.unref();
}
