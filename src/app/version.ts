import { readFileSync } from 'node:fs';

/** The version of this package. */
export function readVersion(): string {
  // The package is two folders up, for the sources and for the built program alike.
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const about: unknown = JSON.parse(text);
  return typeof about === 'object' && about !== null && 'version' in about
    ? String(about.version)
    : 'unknown';
}
