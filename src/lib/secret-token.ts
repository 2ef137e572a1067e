import { hash, randomBytes, randomUUID } from 'node:crypto';

/** An opaque secret of 256 random bits that is safe in headers, URLs and MQTT passwords. */
export function createSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url');
}

/** What is kept of a secret: nobody who reads the database can use it. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** A fresh random id [RFC 9562, version 4]; no secret. */
export function createId(): string {
  return randomUUID();
}
