import { signal } from '@preact/signals';

/** Whether the browser believes it has a network. */
export const isOnline = signal(typeof navigator === 'undefined' || navigator.onLine);

/** Follows the browser; called once. */
export function watchNetwork(): void {
  addEventListener('online', () => {
    isOnline.value = true;
  });
  addEventListener('offline', () => {
    isOnline.value = false;
  });
}
