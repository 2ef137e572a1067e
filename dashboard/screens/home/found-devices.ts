import { type DeviceFilter, deviceQueries } from '../../api/device-query.ts';
import { apiPaths } from '../../api/paths.ts';
import { receivedIds } from '../../api/received.ts';
import type { Device, MyGrants } from '../../api/types.ts';
import { withWords } from '../../api/word-search.ts';
import { homePage, withoutPhotos } from '../../state/list-pages.ts';
import { type Resource, useResource } from '../../state/resource.ts';
import { sensorName } from '../../state/sensor-name.ts';
import { api, username } from '../../state/session.ts';
import { loadSharedProjects } from '../../state/shared-projects.ts';
import { isNarrowed, type Look, type View, viewPath } from './view.ts';

/** As many as one page of the service: searched and sorted here. */
const allDevicesMax = 1_000;
/** What is counted over all is not watched live: silence is a matter of hours. */
const allRefreshMs = 120_000;

export interface Found {
  readonly devices: readonly Device[];
  readonly total: number;
}

/** What a view of the list is drawn from. */
export interface FoundDevices {
  /** What is shown. */
  readonly found: Resource<Found>;
  /** Every device of the view, for counts that are true for all; absent until it is known. */
  readonly all: Found | undefined;
}

/**
 * The devices of a view. Lines and searches take all there are; cards take a page, and all follow
 * when there are more.
 */
export function useFoundDevices(view: View, look: Look): FoundDevices {
  const { text, look: _look, pages = 1, ...others } = view;
  const isOfAll = look === 'lines' || text !== undefined;
  const user = username.value;
  const base = `home ${user} ${viewPath(others)}`;
  const limit = pages * homePage;
  const page = useResource<Found>(
    isOfAll ? undefined : `${base} ${limit}`,
    (signal) => loadDevices(others, { limit, user, signal }),
    { isKept: pages === 1 && !isNarrowed(others) },
  );
  const isMore = page.value !== undefined && page.value.devices.length < page.value.total;
  const all = useResource<Found>(
    isOfAll || isMore || pages > 1 ? `${base} all` : undefined,
    (signal) => loadDevices(others, { limit: allDevicesMax, user, signal }),
    { isKept: !isNarrowed(others), refreshMs: allRefreshMs },
  );
  const isTooMany = all.value !== undefined && all.value.devices.length < all.value.total;
  // More than can be searched here: the service looks, in names and in ids.
  const asked = useResource<Found>(
    isTooMany && text !== undefined ? `${base} ${text}` : undefined,
    (signal) =>
      loadDevices({ ...others, text: text ?? '' }, { limit: allDevicesMax, user, signal }),
  );
  if (!isOfAll) {
    // All are here already: a further page of them takes no question.
    const more = all.value && { ...all.value, devices: all.value.devices.slice(0, limit) };
    const found = page.value === undefined && more !== undefined ? { ...page, value: more } : page;
    return { found, all: isMore || pages > 1 ? all.value : page.value };
  }
  if (isTooMany && text !== undefined) return { found: asked, all: asked.value };
  const value = all.value && narrowed(all.value, text ?? '');
  return { found: { ...all, value, set: () => undefined }, all: value };
}

function narrowed({ devices, total }: Found, text: string): Found {
  const fitting = withWords(devices, text, sensorName);
  return { devices: fitting, total: fitting === devices ? total : fitting.length };
}

/** Loads the devices of a view, a page of them. */
export async function loadDevices(
  view: View,
  options: {
    readonly limit: number;
    readonly user: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<Found> {
  const { limit, user, signal } = options;
  const filter = await filterOf(view, user, signal);
  if (filter === undefined) return { devices: [], total: 0 };
  const answers = await Promise.all(
    deviceQueries(filter).map((q) =>
      api.getPage<Device>({
        path: apiPaths.devices,
        query: { q, limit, ...withoutPhotos },
        signal,
      }),
    ),
  );
  const devices = new Map(
    answers.flatMap(({ items }) => items.map((item) => [item.id, item] as const)),
  );
  // Found by name and by id: what both found is counted once, as far as it was seen.
  const seen = answers.reduce((sum, { items }) => sum + items.length, 0);
  const all = answers.reduce((sum, { total }) => sum + total, 0);
  const total = all - (seen - devices.size);
  return { devices: [...devices.values()].slice(0, limit), total };
}

/** Undefined: there can be none. */
async function filterOf(
  view: View,
  user: string | undefined,
  signal: AbortSignal,
): Promise<DeviceFilter | undefined> {
  const { whose, look: _look, pages: _pages, ...filter } = view;
  if (whose === 'mine' && user !== undefined) return { ...filter, owner: user };
  if (whose !== 'shared') return filter;
  const grants = await api.getJson<MyGrants>({ path: '/users/me/grants', signal });
  const inProjects = (await loadSharedProjects(grants, signal)).flatMap(
    ({ device_ids }) => device_ids,
  );
  const ids = [...new Set([...receivedIds(grants, 'device'), ...inProjects])];
  return ids.length === 0 ? undefined : { ...filter, ids };
}
