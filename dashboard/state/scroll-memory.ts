/** How many places are remembered. */
const placesMax = 100;
/** A screen that has not grown long enough by then is shown from its start. */
const patienceMs = 3_000;
const storageKey = 'kipimo.scroll';

/** Brings people who go back to where they were on a long screen. */
export function rememberScroll(): void {
  history.scrollRestoration = 'manual';
  const places = readPlaces();
  // While a place is looked for, what the browser does is not what somebody meant.
  let wanted: { readonly y: number; readonly until: number } | undefined;
  const give = (): void => {
    wanted = undefined;
  };
  addEventListener(
    'scroll',
    () => {
      if (wanted !== undefined) return;
      places.delete(location.href);
      places.set(location.href, Math.round(scrollY));
      for (const oldest of places.keys()) {
        if (places.size <= placesMax) break;
        places.delete(oldest);
      }
    },
    { passive: true },
  );
  for (const kind of ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const) {
    addEventListener(kind, give, { passive: true });
  }
  addEventListener('pagehide', () => writePlaces(places));

  function look(): void {
    if (wanted === undefined) return;
    const { y, until } = wanted;
    const isLongEnough = document.documentElement.scrollHeight - innerHeight >= y;
    if (isLongEnough) scrollTo(0, y);
    if (isLongEnough || performance.now() > until) give();
    else requestAnimationFrame(look);
  }

  function goBackTo(y: number | undefined): void {
    wanted = y === undefined || y === 0 ? undefined : { y, until: performance.now() + patienceMs };
    // The screen of before is still there: after the next frame it is the one that is meant.
    requestAnimationFrame(() => requestAnimationFrame(look));
  }

  addEventListener('popstate', () => goBackTo(places.get(location.href)));
  const [navigation] = performance.getEntriesByType('navigation');
  const isReturn =
    navigation instanceof PerformanceNavigationTiming && navigation.type !== 'navigate';
  if (isReturn) goBackTo(places.get(location.href));
}

function readPlaces(): Map<string, number> {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? '[]');
    return new Map(Array.isArray(kept) ? kept.filter(isPlace) : []);
  } catch {
    // Storage may be forbidden; going back then works within the page.
    return new Map();
  }
}

const isPlace = (entry: unknown): entry is [string, number] =>
  Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number';

function writePlaces(places: ReadonlyMap<string, number>): void {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify([...places]));
  } catch {
    // As above.
  }
}
