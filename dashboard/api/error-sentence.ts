import type { Translate } from '../i18n/formats.ts';
import { refusalSentence } from '../i18n/refusals.ts';
import { ApiError } from './api-error.ts';

/** Says an error and what to do in the user's language, as exactly as the service does. */
export function errorSentence(error: unknown, t: Translate): string {
  if (!(error instanceof ApiError)) return t('errors.internal');
  const { exact, message: description } = error;
  // How long to wait is said with its plural below.
  if (exact !== undefined && error.retryAfterSeconds === undefined) {
    const params = { description, ...exact.params };
    const sentence = refusalSentence({ code: exact.code, params });
    if (sentence !== undefined) return sentence;
  }
  switch (error.code) {
    case 'offline':
      return t('errors.offline');
    case 'unauthenticated':
      return t('errors.loggedOut');
    case 'forbidden':
      return t('errors.forbidden');
    case 'not_found':
      return t('errors.notFound');
    case 'too_large':
      return t('errors.tooLarge');
    case 'rate_limited':
      return t('errors.rateLimited', { count: error.retryAfterSeconds ?? 60 });
    case 'unavailable':
      return t('errors.unavailable');
    case 'invalid':
    case 'conflict':
    case 'blocked':
    case 'gone':
    case 'limit_reached':
    case 'storage_full':
      // The service says which field and why, and only it knows.
      return error.message;
    default:
      return t('errors.internal');
  }
}
