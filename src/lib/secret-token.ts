import { hash, randomBytes, randomInt, randomUUID } from 'node:crypto';

/** An opaque secret of 256 random bits that is safe in headers, URLs and MQTT passwords. */
export function createSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url');
}

/** What is kept of a secret: nobody who reads the database can use it. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Letters and digits that are not mistaken for one another when they are read out. */
const codeLetters = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';

/** A code for people to type, such as 7KQ2-M9XD: 39 random bits, for few tries in short time. */
export function createCode(): string {
  const four = () =>
    Array.from({ length: 4 }, () => codeLetters[randomInt(codeLetters.length)]).join('');
  return `${four()}-${four()}`;
}

/** A fresh random id [RFC 9562, version 4]; no secret. */
export function createId(): string {
  return randomUUID();
}

/** A fresh random id of 24 hexadecimal digits; no secret. */
export function createHexId(): string {
  return randomBytes(12).toString('hex');
}
