import type { JSX } from 'preact';
import { ApiError } from '../api/api-error.ts';
import { errorSentence } from '../api/error-sentence.ts';
import { t } from '../i18n/i18n.ts';
import { ErrorBox } from './error-box.tsx';

/** Why a screen of one thing cannot go on: a retry, or the way out where the thing is gone. */
export function LoadError(props: {
  readonly error: unknown;
  readonly onRetry?: () => void;
}): JSX.Element {
  const { error } = props;
  if (!(error instanceof ApiError) || error.code !== 'not_found') return <ErrorBox {...props} />;
  return (
    <div class="error-box" role="alert">
      <p class="grow">{errorSentence(error, t)}</p>
      <a class="button" href="/">
        {t('shell.goHome')}
      </a>
    </div>
  );
}
