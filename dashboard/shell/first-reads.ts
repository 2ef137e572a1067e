import { deviceQueries } from '../api/device-query.ts';
import { apiPaths } from '../api/paths.ts';
import { queryText } from '../api/query-text.ts';
import { historyQuery } from '../charts/history-query.ts';
import { presetRange } from '../charts/ranges.ts';
import { alertsOf, homePage, mapPage, withoutPhotos } from '../state/list-pages.ts';

/** Where a page begins, and for whom. */
export interface FirstPage {
  readonly path: string;
  /** With its question mark, or empty. */
  readonly search: string;
  readonly username: string | undefined;
  readonly widthPx: number;
  readonly now: number;
}

/** From this width on a chart is beside its tiles, and how wide is not known beforehand. */
const besideMinPx = 600;
/** Left and right of what is on a phone's screen. */
const marginsPx = 32;

/**
 * What a screen asks the service for first, below /api/v2: asked while its code is still on its
 * way. The screens build the same addresses by the same functions; a browser test sees that each
 * is used.
 */
export function firstReads(page: FirstPage): readonly string[] {
  const { path, search, username, widthPx, now } = page;
  if (search === '' && username !== undefined) {
    const [q = ''] = deviceQueries({ owner: username });
    if (path === '/') {
      return [devices(q, homePage), `${apiPaths.alerts}${queryText(alertsOf(username))}`];
    }
    if (path === '/map') return [devices(`${q};location`, mapPage)];
  }
  const device = /^\/devices\/([^/]+)$/.exec(path)?.[1];
  if (device === undefined) return [];
  const id = decoded(device);
  if (id === undefined) return [];
  const own = [apiPaths.device(id)];
  if (search !== '' || widthPx >= besideMinPx) return own;
  const { query } = historyQuery({
    sensors: [],
    devices: [id],
    range: presetRange('day', now),
    endsNow: true,
    widthPx: widthPx - marginsPx,
  });
  return [...own, `/sensors_data${queryText(query)}`];
}

const devices = (q: string, limit: number): string =>
  `/devices${queryText({ q, limit, ...withoutPhotos })}`;

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
