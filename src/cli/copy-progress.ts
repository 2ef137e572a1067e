import { Presets, SingleBar } from 'cli-progress';

/** What shells answer after a Ctrl-C: 128 and the number of the signal. */
const interruptedCode = 130;

/** Shows how far a long work is; the total may become known, or grow, on the way. */
export interface CopyProgressBar {
  show(done: number, total: number): void;
  stop(): void;
}

/** A bar on a terminal; elsewhere nothing, as logs have no use for it. */
export function openProgressBar(unit: string): CopyProgressBar {
  if (!process.stderr.isTTY) return { show: () => undefined, stop: () => undefined };
  const format = `{bar} {percentage} % | {value}/{total} ${unit} | {eta_formatted} left`;
  // The bar would catch Ctrl-C and let the work go on, without a cursor.
  const settings = { format, hideCursor: true, gracefulExit: false };
  const bar = new SingleBar(settings, Presets.shades_classic);
  bar.start(1, 0);
  const leave = (): void => {
    bar.stop();
    // Commands that stop in steps listen, too: they leave when they are done.
    if (process.listenerCount('SIGINT') === 0) process.exit(interruptedCode);
  };
  process.once('SIGINT', leave);
  return {
    show(done, total) {
      bar.setTotal(total);
      bar.update(done);
    },
    stop: () => {
      process.off('SIGINT', leave);
      bar.stop();
    },
  };
}
