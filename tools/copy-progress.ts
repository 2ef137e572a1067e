import { Presets, SingleBar } from 'cli-progress';

/** Signals that end a command, and what shells answer then: 128 and the number of the signal. */
const endings = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

/** A bar on a terminal, whose total may grow on the way; elsewhere nothing: logs do not need it. */
export function openProgressBar(unit: string) {
  if (!process.stderr.isTTY) return { show: () => undefined, stop: () => undefined };
  const format = `{bar} {percentage} % | {value}/{total} ${unit} | {eta_formatted} left`;
  // The bar would catch Ctrl-C and let the work go on, without a cursor.
  const settings = { format, hideCursor: true, gracefulExit: false };
  const bar = new SingleBar(settings, Presets.shades_classic);
  const leavings = endings.map(([signal, code]) => {
    const leave = (): void => {
      bar.stop();
      // Commands that stop in steps listen, too: they leave when they are done.
      if (process.listenerCount(signal) === 0) process.exit(code);
    };
    process.once(signal, leave);
    return () => process.off(signal, leave);
  });
  // From here on there is no cursor.
  bar.start(1, 0);
  return {
    show(done: number, total: number): void {
      bar.setTotal(total);
      bar.update(done);
    },
    stop: () => {
      for (const forget of leavings) forget();
      bar.stop();
    },
  };
}
