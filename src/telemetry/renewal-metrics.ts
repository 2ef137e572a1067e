import type { Reporter } from '../domain/reporter.ts';
import type { Meters } from './meters.ts';

/** Adds how far writing chunks anew in the background is; answers what to call with its figures. */
export function addRenewalMetrics({ watched }: Meters): Reporter['chunksRenewed'] {
  let latest = { replaced: 0, left: 0, unreadable: 0 };
  watched(
    'count',
    'kipimo_chunks_renewed_total',
    { help: 'Chunks of datapoints that were written anew in the background since the start.' },
    () => [[latest.replaced]],
  );
  watched(
    'gauge',
    'kipimo_chunks_to_look_at',
    { help: 'Chunks of datapoints that the walk in the background has not looked at yet.' },
    () => [[latest.left]],
  );
  watched(
    'gauge',
    'kipimo_chunks_unreadable',
    { help: 'Chunks of datapoints that the walk in the background could not read, and left.' },
    () => [[latest.unreadable]],
  );
  return (figures) => {
    latest = figures;
  };
}
