import { signal } from '@preact/signals';

/** What browsers hand out that can install a page; no standard has it yet. */
interface InstallEvent extends Event {
  prompt(): Promise<unknown>;
}

/** Asks the browser to install the app; undefined while it does not offer that. */
export const installApp = signal<(() => void) | undefined>(undefined);

/** Keeps the browser's offer for the button; called once, before it could come. */
export function watchInstall(): void {
  addEventListener('beforeinstallprompt', (event) => {
    // The browser's own bar would come at some moment; ours waits where one looks for it.
    event.preventDefault();
    installApp.value = () => {
      // An offer can be used once.
      installApp.value = undefined;
      // The name of the event says what it is.
      (event as InstallEvent).prompt().catch(() => undefined);
    };
  });
  addEventListener('appinstalled', () => {
    installApp.value = undefined;
  });
}
