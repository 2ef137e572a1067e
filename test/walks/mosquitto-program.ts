import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** Longer than any of them takes on a busy machine. */
const patienceMs = 60_000;

const isThere = (name: string): boolean => spawnSync(name, ['--help']).error === undefined;

export const haveClients = isThere('mosquitto_pub') && isThere('mosquitto_sub');

export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

export interface Program {
  /** Resolves once its debug output holds the text. */
  said(text: string): Promise<void>;
  readonly ended: Promise<Ended>;
}

function start(name: string, words: readonly string[]): Program {
  // Into a pipe they would write only at their end.
  const child = spawn('stdbuf', ['-oL', name, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const impatience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  let output = '';
  let errors = '';
  let wake = () => {};
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    wake();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
    wake();
  });
  let isOver = false;
  const ended = once(child, 'close').then(([code]): Ended => {
    clearTimeout(impatience);
    isOver = true;
    wake();
    return { code, output, errors };
  });
  return {
    ended,
    async said(text) {
      while (!output.includes(text)) {
        if (isOver) throw new Error(`${name} ended before "${text}": ${output}${errors}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
    },
  };
}

/** Publishes, and resolves when the program has ended. */
export function mosquittoPub(words: readonly string[]): Promise<Ended> {
  return start('mosquitto_pub', words).ended;
}

/** Subscribes; resolves when the broker has granted it. Ends after `count` messages. */
export async function mosquittoSub(count: number, words: readonly string[]): Promise<Program> {
  const program = start('mosquitto_sub', ['-d', '-C', `${count}`, ...words]);
  await program.said('Subscribed (mid: 1)');
  return program;
}

/** Subscribes until the broker has answered, and ends. */
export function mosquittoEnter(words: readonly string[]): Promise<Ended> {
  return start('mosquitto_sub', ['-E', ...words]).ended;
}

/** What was printed, without the lines of -d. */
export const linesOf = ({ output }: Ended): readonly string[] =>
  output
    .split('\n')
    .filter((line) => line !== '' && !/^(Client |Subscribed |\s*Publish)/.test(line));
