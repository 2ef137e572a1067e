import type { JSX } from 'preact';
import { t } from '../i18n/i18n.ts';
import type { LiveState } from '../live/live-values.ts';
import { liveState } from '../state/live-devices.ts';

const states: readonly LiveState[] = ['live', 'connecting', 'polling', 'offline'];

/**
 * Whether new values come by themselves. All its words lie upon each other and one shows, so that
 * nothing beside it moves when the state changes; without anything to listen to, none shows.
 */
export function LiveMark(): JSX.Element {
  const state = liveState.value;
  const hint = state === undefined ? undefined : t(`live.${state}Hint`);
  return (
    <span class={`live-mark is-${state ?? 'idle'}`} role="status" title={hint}>
      <span class="live-dot" aria-hidden="true" />
      <span class="live-words">
        {states.map((word) => (
          <span key={word} class={word === state ? 'is-now' : undefined}>
            {t(`live.${word}`)}
          </span>
        ))}
      </span>
    </span>
  );
}
