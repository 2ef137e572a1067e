import { signal } from '@preact/signals';

const tickMs = 10_000;

/** Now, as ages on screens count it: moves every ten seconds while the page is looked at. */
export const now = signal(Date.now());

/** Starts the clock; called once. */
export function watchClock(): void {
  const tick = (): void => {
    if (document.visibilityState === 'visible') now.value = Date.now();
  };
  setInterval(tick, tickMs);
  document.addEventListener('visibilitychange', tick);
}
