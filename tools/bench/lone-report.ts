import type { BesideDisk } from './disk-sync.ts';
import { mark, milliseconds, perSecond } from './figures.ts';

/** What one push or publish at a time may take beyond the disk's own time, in milliseconds. */
const moreMsMax = 0.3;

/** A row of the table over HTTP or MQTT, in whose other columns nothing is to be said. */
export function loneRow(what: string, { ours, moreMs }: BesideDisk): readonly string[] {
  return [
    what,
    perSecond(ours.perSecond),
    '',
    '',
    milliseconds(ours.p50Ms),
    milliseconds(ours.p99Ms),
    '',
    `p50 ≤ the disk's + ${moreMsMax} ms ${mark(moreMs <= moreMsMax)}`,
  ];
}

/** What the disk took in the same slices, as a sentence. */
export function loneText({ disk, moreMs }: BesideDisk): string {
  return (
    `a page was written and synced in ${milliseconds(disk.p50Ms)} ` +
    `(p99 ${milliseconds(disk.p99Ms)}); ours one by one ${milliseconds(moreMs)} longer`
  );
}
