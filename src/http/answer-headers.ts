import { entityTagOf, type ReadOptions, revalidateHeader, varyHeader } from './read-answers.ts';

/** Headers of files of the dashboard: those of the API would be 150 bytes for each of twenty. */
export const fileHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
};

/** Headers of every other answer: any web page may call the API [contract 2]. */
export const commonHeaders: Readonly<Record<string, string>> = {
  ...fileHeaders,
  'access-control-expose-headers':
    'X-Total-Count, X-Skipped-Count, X-Summarised-Before, X-Refused, X-After, Link, ETag',
};

const commonHeaderList = Object.entries(commonHeaders).flat();
// Nothing to sniff and nothing to expose: pushes are answered with this.
const noContentHeaders: readonly string[] = ['access-control-allow-origin', '*'];
const emptyHeaders: readonly string[] = [...noContentHeaders, 'content-length', '0'];

/** Headers of an answer without a body: names and values, alternating. */
export const emptyAnswerHeaders = (status: 200 | 204): readonly string[] =>
  status === 204 ? noContentHeaders : emptyHeaders;

/** A text that is answered as a whole. */
export interface WholeBody {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The same object for the same text: its tag is found once. */
  readonly whole?: object | undefined;
}

/** Headers of a text, names and values alternating, but for those of its content; with its tag. */
export function textHeaders(
  { text, headers, whole }: WholeBody,
  read: ReadOptions | undefined,
): { readonly about: string[]; readonly entityTag: string | undefined } {
  const about = [...commonHeaderList];
  for (const name in headers) about.push(name, headers[name] ?? '');
  if (read === undefined) return { about, entityTag: undefined };
  const entityTag = entityTagOf(text, whole);
  about.push('etag', entityTag, ...varyHeader);
  if (headers['cache-control'] === undefined) about.push(...revalidateHeader);
  return { about, entityTag };
}
