import type { JSX } from 'preact';
import { errorSentence } from '../api/error-sentence.ts';
import { t } from '../i18n/i18n.ts';

/** What happened, what to do, and a retry that works. */
export function ErrorBox(props: {
  /** Either a sentence, or an error to say one for. */
  readonly text?: string;
  readonly error?: unknown;
  readonly onRetry?: () => void;
}): JSX.Element {
  const { text, error, onRetry } = props;
  return (
    <div class="error-box" role="alert">
      <p class="grow">{text ?? errorSentence(error, t)}</p>
      {onRetry !== undefined && (
        <button type="button" class="button" onClick={onRetry}>
          {t('common.retry')}
        </button>
      )}
    </div>
  );
}
