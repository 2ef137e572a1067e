import { createHmac, hash, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto';

/** An opaque secret of 256 random bits that is safe in headers, URLs and MQTT passwords. */
export const createSecret = (prefix = ''): string => prefix + randomBytes(32).toString('base64url');

/** A key of 256 random bits for an HMAC that others compute, in hexadecimal digits. */
export const createSigningKey = (): string => randomBytes(32).toString('hex');

/** Hashes a secret to be kept: a reader of the database cannot use the hash. */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'base64url');

/** Letters and digits that are not mistaken for one another when they are read out. */
const codeLetters = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';

/** A code for people to type, such as 7KQ2-M9XD: 39 random bits, for few tries in short time. */
export function createCode(): string {
  const four = () =>
    Array.from({ length: 4 }, () => codeLetters[randomInt(codeLetters.length)]).join('');
  return `${four()}-${four()}`;
}

/** A code as `createCode` makes it, from what people type: in any case, without the dash. */
export function codeSpelling(typed: string): string {
  const letters = typed.toUpperCase().replaceAll(/[^0-9A-Z]/g, '');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** A fresh random id [RFC 9562, version 4]; no secret. */
export const createId = (): string => randomUUID();

/** A fresh random id of 24 hexadecimal digits; no secret. */
export const createHexId = (): string => randomBytes(12).toString('hex');

/** Signs `text` as only the holder of `secret` can [RFC 2104, HMAC-SHA256]. */
export function signText(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

/** Whether two texts are equal, in a time that does not reveal where they differ. */
export function equalSecrets(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
