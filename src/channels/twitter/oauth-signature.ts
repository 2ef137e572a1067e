import { createHmac } from 'node:crypto';

/** The keys of an app, and of the account in whose name it acts. */
export interface OAuthKeys {
  readonly appKey: string;
  readonly appSecret: string;
  readonly accessToken: string;
  readonly accessSecret: string;
}

/**
 * The Authorization header of a request whose body is no form: OAuth 1.0a with HMAC-SHA1
 * [RFC 5849, 3]. `nonce` is used once, `timestamp` in seconds since 1970.
 */
export function signedAuthorization(parts: {
  readonly keys: OAuthKeys;
  readonly method: string;
  readonly url: URL;
  readonly nonce: string;
  readonly timestamp: number;
}): string {
  const { keys, method, url, nonce, timestamp } = parts;
  const own: readonly (readonly [string, string])[] = [
    ['oauth_consumer_key', keys.appKey],
    ['oauth_token', keys.accessToken],
    ['oauth_signature_method', 'HMAC-SHA1'],
    ['oauth_timestamp', `${timestamp}`],
    ['oauth_nonce', nonce],
  ];
  const signed = [...own, ...url.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');
  const base = [method, `${url.origin}${url.pathname}`, signed].map(encoded).join('&');
  const key = `${encoded(keys.appSecret)}&${encoded(keys.accessSecret)}`;
  const signature = createHmac('sha1', key).update(base).digest('base64');
  return `OAuth ${[...own, ['oauth_signature', signature] as const]
    .map(([name, value]) => `${name}="${encoded(value)}"`)
    .join(', ')}`;
}

/** Percent-encoding of all but letters, digits and - . _ ~ [RFC 5849, 3.6]. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
