import { effect } from '@preact/signals';
import { apiPaths } from '../api/paths.ts';
import type { Datapoint, Device } from '../api/types.ts';
import { withoutPhotos } from '../state/list-pages.ts';
import { api, session } from '../state/session.ts';
import { sendWaiting } from '../state/typed-values.ts';
import '../state/usual-words.ts';
import { openConnection } from './connection.ts';
import { liveLimits } from './live-limits.ts';
import { createLiveValues, type LiveValues } from './live-values.ts';
import { browserTimers } from './timers.ts';
import { liveUrl, openWebSocket } from './web-socket.ts';

/** Ids have no comma, so a list of them is one filter; long lists are fetched in parts. */
const idsPerFetchMax = 50;

let page: LiveValues | undefined;

/** The live values of this page; made when first asked for. */
export function liveValues(): LiveValues {
  if (page !== undefined) return page;
  const made = createLiveValues({
    connect: (events) =>
      openConnection({
        ...events,
        openSocket: (socketEvents) => openWebSocket(liveUrl(location), socketEvents),
        credentials: async () => {
          await api.renewIfDue();
          return api.session();
        },
        timers: browserTimers,
        random: Math.random,
      }),
    fetchDevices,
    fetchNewest,
    timers: browserTimers,
    onFrame: createFrames(),
  });
  page = made;
  followPage(made);
  return made;
}

/**
 * Calls back before a frame, so often as eyes can follow: every frame would draw whole charts anew
 * for single values. A hidden page paints nothing, and still wants its values kept in order.
 */
function createFrames(): (callback: () => void) => void {
  let paintedAt = Number.NEGATIVE_INFINITY;
  return (callback) => {
    const paint = (): void => {
      requestAnimationFrame((now) => {
        paintedAt = now;
        callback();
      });
    };
    const waitMs = paintedAt + liveLimits.paintMsMin - performance.now();
    if (document.visibilityState !== 'visible') setTimeout(callback, 1_000);
    else if (waitMs > 0) setTimeout(paint, waitMs);
    else paint();
  };
}

function followPage(values: LiveValues): void {
  addEventListener('online', () => values.reconnect());
  // The network is back: what was typed without it goes first.
  effect(() => {
    if (values.state.value === 'live') void sendWaiting();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && values.state.peek() !== 'live') {
      values.reconnect();
    }
  });
  let user = session.peek()?.username;
  effect(() => {
    const next = session.value?.username;
    if (next === user) return;
    user = next;
    values.reconnect();
  });
}

async function fetchNewest(device: string, sensor: string): Promise<Datapoint | undefined> {
  const path = `${apiPaths.sensor(device, sensor)}/values`;
  const [newest] = await api.getJson<readonly Datapoint[]>({ path, query: { lastN: 1 } });
  return newest;
}

async function fetchDevices(deviceIds: readonly string[]): Promise<readonly Device[]> {
  const [only] = deviceIds;
  if (deviceIds.length === 1 && only !== undefined) {
    return [await api.getJson<Device>({ path: apiPaths.device(only) })];
  }
  const parts: Promise<readonly Device[]>[] = [];
  for (let at = 0; at < deviceIds.length; at += idsPerFetchMax) {
    const ids = deviceIds.slice(at, at + idsPerFetchMax);
    const query = { q: `id==${ids.join(',')}`, limit: idsPerFetchMax, ...withoutPhotos };
    parts.push(api.getJson<readonly Device[]>({ path: apiPaths.devices, query }));
  }
  return (await Promise.all(parts)).flat();
}
