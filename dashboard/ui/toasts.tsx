import type { JSX } from 'preact';
import { hideToast, toasts } from '../state/toasts.ts';

/** What was just said, at the bottom of the screen. */
export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, action }) => (
        <div class="toast" key={id}>
          <span>{text}</span>
          {action !== undefined && (
            <button
              type="button"
              onClick={() => {
                hideToast(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
