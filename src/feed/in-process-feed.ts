import assert from 'node:assert/strict';
import type { ChangeListener } from '../domain/changes.ts';
import type { Feed, FeedListener } from '../domain/datapoints/feed.ts';
import { limits } from '../domain/limits.ts';
import type { Log } from '../lib/log.ts';

/** A feed within one process. A listener that throws is logged and harms nobody. */
export function createInProcessFeed({ log }: { readonly log: Log }): Feed {
  // Replaced, never changed: a listener may come or go while events are handed out.
  let listeners: readonly FeedListener[] = [];
  let changeListeners: readonly ChangeListener[] = [];

  return {
    publish(events) {
      for (const listener of listeners) {
        try {
          listener(events);
        } catch (error) {
          log.error({ error }, 'a listener of the feed failed');
        }
      }
    },
    subscribe(listener) {
      assert(listeners.length < limits.feedListenersMax, 'the feed has too many listeners');
      // Its own function, so that a listener that subscribes twice ends each subscription once.
      const own: FeedListener = (events) => listener(events);
      listeners = [...listeners, own];
      return () => {
        listeners = listeners.filter((other) => other !== own);
      };
    },
    async publishChange(change) {
      await Promise.all(
        changeListeners.map(async (listener) => {
          try {
            await listener(change);
          } catch (error) {
            log.error({ error, change: change.kind }, 'a listener to changes failed');
          }
        }),
      );
    },
    onChange(listener) {
      assert(changeListeners.length < limits.feedListenersMax, 'changes have too many listeners');
      const own: ChangeListener = (change) => listener(change);
      changeListeners = [...changeListeners, own];
      return () => {
        changeListeners = changeListeners.filter((other) => other !== own);
      };
    },
  };
}
