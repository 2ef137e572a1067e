import type { JSX } from 'preact';
import { t } from '../i18n/i18n.ts';
import { liveState } from '../state/live-devices.ts';

/** Whether new values come by themselves. */
export function LiveMark(): JSX.Element {
  const state = liveState.value ?? 'connecting';
  return (
    <span class={`live-mark is-${state}`} role="status" title={t(`live.${state}Hint`)}>
      <span class="live-dot" aria-hidden="true" />
      {t(`live.${state}`)}
    </span>
  );
}
