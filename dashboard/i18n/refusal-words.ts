import type { RefusalCode } from '../../src/wire/refusal.ts';

/** Refusals of the service in one language. */
export interface RefusalWords {
  /** By exact codes, and by kinds for what has no code of its own. */
  readonly sentences: Readonly<Record<RefusalCode | EdgeCode, string>>;
  /** Fields, channels and rights that sentences name. */
  readonly words: Readonly<Record<string, string>>;
}

type EdgeCode = 'method_not_allowed' | 'unsupported_media_type' | 'unknown_recipient' | 'internal';
