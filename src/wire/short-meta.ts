import { isRecord } from '../lib/record.ts';
import type { Spelling } from './spelling.ts';

/** Longer texts of `meta` are left out where it is asked for shortly, in UTF-16 code units. */
export const shortMetaCharacters = 1_000;

// Short forms by spelling: texts of devices are kept by the spelling they are written in.
const spellings = new WeakMap<Spelling, Spelling>();

/** The same words, without the long texts of `meta`, such as photos. */
export function withShortMeta(spelling: Spelling): Spelling {
  const known = spellings.get(spelling);
  if (known !== undefined) return known;
  const short = { ...spelling, device: (message: object) => spelling.device(shortened(message)) };
  spellings.set(spelling, short);
  return short;
}

function shortened(message: object): object {
  const { meta } = message as { readonly meta?: unknown };
  if (!isRecord(meta)) return message;
  const fields = Object.entries(meta);
  const short = fields.filter(([, value]) => !isLong(value));
  return short.length === fields.length ? message : { ...message, meta: Object.fromEntries(short) };
}

const isLong = (value: unknown): boolean =>
  typeof value === 'string' && value.length > shortMetaCharacters;
