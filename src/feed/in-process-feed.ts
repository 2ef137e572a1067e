import assert from 'node:assert/strict';
import type { Change } from '../domain/changes.ts';
import type { Feed, FeedListener } from '../domain/datapoints/feed.ts';
import { limits } from '../domain/limits.ts';
import type { Log } from '../lib/log.ts';

/** A feed within one process. A listener that throws is logged and harms no other listener. */
export function createInProcessFeed({ log }: { readonly log: Log }): Feed {
  const listeners = createListeners<Parameters<FeedListener>[0], void>();
  const changeListeners = createListeners<Change, Promise<void>>();

  return {
    publish(events) {
      for (const listener of listeners.all()) {
        try {
          listener(events);
        } catch (error) {
          log.error({ error }, 'a listener of the feed failed');
        }
      }
    },
    subscribe: listeners.add,
    async publishChange(change) {
      await Promise.all(
        changeListeners.all().map(async (listener) => {
          try {
            await listener(change);
          } catch (error) {
            log.error({ error, change: change.kind }, 'a listener to changes failed');
          }
        }),
      );
    },
    onChange: changeListeners.add,
  };
}

function createListeners<Event, Answer>() {
  // Replaced, never changed: a listener may come or go while events are handed out.
  let listeners: readonly ((event: Event) => Answer)[] = [];
  return {
    all: () => listeners,
    add(listener: (event: Event) => Answer): () => void {
      assert(listeners.length < limits.feedListenersMax, 'the feed has too many listeners');
      // A function of its own, so that a listener that is added twice ends each time once.
      const own = (event: Event): Answer => listener(event);
      listeners = [...listeners, own];
      return () => {
        listeners = listeners.filter((other) => other !== own);
      };
    },
  };
}
