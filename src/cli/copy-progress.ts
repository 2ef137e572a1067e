import { Presets, SingleBar } from 'cli-progress';

/** Shows how far a long work is; the total may become known, or grow, on the way. */
export interface CopyProgressBar {
  show(done: number, total: number): void;
  stop(): void;
}

/** A bar on a terminal; elsewhere nothing, as logs have no use for it. */
export function openProgressBar(unit: string): CopyProgressBar {
  if (!process.stderr.isTTY) return { show: () => undefined, stop: () => undefined };
  const format = `{bar} {percentage} % | {value}/{total} ${unit} | {eta_formatted} left`;
  const bar = new SingleBar({ format, hideCursor: true }, Presets.shades_classic);
  bar.start(1, 0);
  return {
    show(done, total) {
      bar.setTotal(total);
      bar.update(done);
    },
    stop: () => bar.stop(),
  };
}
