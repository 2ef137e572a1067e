import { ownPace, type Pace } from '../../lib/scheduling/fair-slices.ts';
import type { DataReach, VisibleTo } from '../access/viewer.ts';
import type { Device, DeviceHead, DeviceListing, DeviceStore } from '../devices/device.ts';
import { type Filter, requiredEquals } from '../devices/query-evaluation.ts';
import type { DeviceId } from '../ids.ts';
import { createFilterRound, type LastValueReads } from './filter-round.ts';

/** Criteria of a search, and the page of its result that is wanted. */
export interface DeviceSearch {
  readonly visibleTo: VisibleTo;
  readonly filter: Filter;
  /** Of which devices the filter may ask for last values, others have none; absent: of none. */
  readonly valuesWithin?: DataReach;
  readonly limit: number;
  readonly offset: number;
  /** The slices of long work; absent: it lets other work run now and then. */
  readonly pace?: Pace;
}

/**
 * Searches devices in bounded slices, in order of creation, letting others run in between. A device
 * that changes or goes meanwhile is taken as it is then, or left out.
 */
export async function searchDevices(
  {
    store,
    datapoints,
  }: {
    readonly store: Pick<DeviceStore, 'candidates' | 'readSome'>;
    readonly datapoints: LastValueReads;
  },
  { visibleTo, filter, valuesWithin, limit, offset, pace = ownPace() }: DeviceSearch,
): Promise<DeviceListing> {
  const round = createFilterRound(filter, { valuesWithin, datapoints });
  const equals = requiredEquals(filter);
  const devices: DeviceHead[] = [];
  let total = 0;
  const keep = (device: Device): void => {
    if (total >= offset && devices.length < limit) devices.push(headOf(device));
    total += 1;
  };

  async function look(found: readonly Device[]): Promise<void> {
    const verdicts: ReturnType<typeof round.look>[] = [];
    for (const device of found) {
      verdicts.push(round.look(device));
      if (pace.isOver()) await pace.rest();
    }
    const wanting = found.filter((_, at) => verdicts[at] === 'wants values');
    const values =
      wanting.length === 0
        ? new Map()
        : await datapoints.briefLastValues(wanting.map(({ id }) => id));
    for (const [at, device] of found.entries()) {
      const verdict = verdicts[at];
      const passes =
        verdict === 'wants values' ? await round.decide(device, values) : verdict === 'passes';
      if (passes) keep(device);
      if (pace.isOver()) await pace.rest();
    }
  }

  let after: number | undefined;
  do {
    const { ids, next } = await store.candidates({
      ...{ visibleTo, equals },
      ...(after !== undefined && { after }),
    });
    let rest: readonly DeviceId[] = ids;
    while (rest.length > 0) {
      const { devices: found, taken } = await store.readSome(rest);
      rest = rest.slice(taken);
      await look(found);
      if (pace.isOver()) await pace.rest();
    }
    after = next;
  } while (after !== undefined);
  return { devices, total };
}

const headOf = ({ id, owner, visibility, createdAt }: Device): DeviceHead =>
  visibility === undefined ? { id, owner, createdAt } : { id, owner, visibility, createdAt };
