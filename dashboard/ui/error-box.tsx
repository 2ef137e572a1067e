import type { JSX } from 'preact';
import { ApiError } from '../api/api-error.ts';
import { errorSentence } from '../api/error-sentence.ts';
import { t } from '../i18n/i18n.ts';

/** What happened, what to do, and a retry that works; a way out where there is nothing. */
export function ErrorBox(props: {
  /** Either a sentence, or an error to say one for. */
  readonly text?: string;
  readonly error?: unknown;
  readonly onRetry?: () => void;
}): JSX.Element {
  const { text, error, onRetry } = props;
  const isMissing = error instanceof ApiError && error.code === 'not_found';
  return (
    <div class="error-box" role="alert">
      <p class="grow">{text ?? errorSentence(error, t)}</p>
      {isMissing && (
        <a class="button" href="/">
          {t('shell.goHome')}
        </a>
      )}
      {!isMissing && onRetry !== undefined && (
        <button type="button" class="button" onClick={onRetry}>
          {t('common.retry')}
        </button>
      )}
    </div>
  );
}
