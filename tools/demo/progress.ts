import { openProgressBar } from '../copy-progress.ts';

/** Shows how far a long work is. */
export interface Progress {
  advance(count: number): void;
  stop(): void;
}

/** A bar on a terminal; elsewhere a line for every tenth of the work. */
export function openProgress(options: {
  readonly total: number;
  readonly isTerminal: boolean;
  readonly print: (line: string) => void;
}): Progress {
  const { total, isTerminal, print } = options;
  return isTerminal ? openBar(total) : openLines(total, print);
}

function openBar(total: number): Progress {
  const bar = openProgressBar('values');
  let done = 0;
  return {
    advance(count) {
      done += count;
      bar.show(done, total);
    },
    stop: bar.stop,
  };
}

function openLines(total: number, print: (line: string) => void): Progress {
  let done = 0;
  let tenths = 0;
  return {
    advance(count) {
      done += count;
      const reached = Math.floor((10 * done) / total);
      if (reached > tenths) print(`${reached * 10} % of the past is pushed`);
      tenths = reached;
    },
    stop: () => undefined,
  };
}
