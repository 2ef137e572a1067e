import { createSecret, equalSecrets, signText } from '../../lib/secret-token.ts';
import type { UserId } from '../ids.ts';

/**
 * Cookies that say "this browser has logged in to this account before". One gives no right: it only
 * puts the browser's failed logins in a lane of their own [OWASP: device cookies].
 */
export interface DeviceCookies {
  issue(userId: UserId): string;
  /** A name for the browser, if the cookie is ours and of one of these accounts. */
  recognise(cookie: string | undefined, userIds: readonly UserId[]): string | undefined;
}

const cookiePattern = /^([\w-]{43})\.([\w-]{43})$/;

/** `secret` is the installation's own. */
export function createDeviceCookies(secret: string): DeviceCookies {
  const signatureOf = (nonce: string, userId: UserId): string =>
    signText(secret, `device cookie ${nonce} ${userId}`);
  return {
    issue(userId) {
      const nonce = createSecret();
      return `${nonce}.${signatureOf(nonce, userId)}`;
    },
    recognise(cookie, userIds) {
      const [, nonce = '', signature = ''] = cookiePattern.exec(cookie ?? '') ?? [];
      const isOurs = userIds.some((userId) => equalSecrets(signature, signatureOf(nonce, userId)));
      return isOurs ? `device/${nonce}` : undefined;
    },
  };
}
