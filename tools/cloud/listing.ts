import type { JsonValue } from '../../src/lib/json.ts';
import { isRecord } from '../../src/lib/record.ts';
import { type ApiClient, reasonOf } from '../client/api-client.ts';
import { cloudLimits } from './cloud-limits.ts';

/** A thing as a service lists it. */
export type Thing = Readonly<Record<string, JsonValue>>;

/**
 * The things of a list, page by page, each once, whatever the service makes of limit and offset.
 * `onRefused` is told when there is no such list, or when it may not be read.
 */
export async function* listThings(
  remote: ApiClient,
  path: string,
  onRefused: (reason: string) => void,
): AsyncGenerator<readonly Thing[]> {
  const seen = new Set<string>();
  let sizeIndex = 0;
  let offset = 0;
  while (seen.size < cloudLimits.thingsMax) {
    const limit = cloudLimits.pageSizes[sizeIndex];
    const query = `?limit=${limit}&offset=${offset}`;
    const answer = await remote.call({ method: 'GET', path: path + query });
    if (answer.status === 400 && sizeIndex + 1 < cloudLimits.pageSizes.length) {
      sizeIndex += 1;
      continue;
    }
    if (answer.status !== 200 || !Array.isArray(answer.json)) return onRefused(reasonOf(answer));
    const things = answer.json.filter(isThing).filter(({ id }) => !seen.has(String(id)));
    // Nothing new: the end, or a service that knows no pages.
    if (things.length === 0) return;
    for (const { id } of things) seen.add(String(id));
    offset += answer.json.length;
    yield things;
  }
}

function isThing(json: JsonValue): json is Thing {
  return isRecord(json) && typeof json['id'] === 'string';
}

/** The things in a list inside a thing. */
export function partsOf(thing: Thing, field: string): readonly Thing[] {
  const parts = thing[field];
  return Array.isArray(parts) ? parts.filter(isThing) : [];
}

/** The texts in a list inside a thing. */
export function textsOf(thing: Thing, field: string): readonly string[] {
  const texts = thing[field];
  return Array.isArray(texts) ? texts.filter((text) => typeof text === 'string') : [];
}

/** These fields of a thing, as far as it has them; null is a value for `value` alone. */
export function pick(thing: Thing, fields: readonly string[]): Thing {
  const picked: Record<string, JsonValue> = {};
  for (const field of fields) {
    const value = thing[field];
    if (value === undefined || (value === null && field !== 'value')) continue;
    picked[field] = value;
  }
  return picked;
}
