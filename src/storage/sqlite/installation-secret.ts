import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory, putDurably, writePrivately } from './durable-file.ts';

const secretPattern = /^[0-9a-f]{64}\n$/;

/**
 * The installation's own secret, 256 random bits made at the first start and kept beside the
 * database. Throws when the file is not what was written: a known or empty secret is none.
 */
export function ensureInstallationSecret(directory: string): string {
  const file = join(directory, 'secret');
  if (!existsSync(file)) {
    makeDirectory(directory);
    // Whole or not at all: without it, or with half of it, no start would succeed after a crash.
    writePrivately(`${file}.new`, `${randomBytes(32).toString('hex')}\n`);
    putDurably(`${file}.new`, file);
  }
  const text = readFileSync(file, 'utf8');
  if (secretPattern.test(text)) return text.trim();
  throw new Error(`${file} is damaged: restore it from a backup, or delete it to make a new one`);
}
