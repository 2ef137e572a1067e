/** What a list of devices is narrowed to. */
export interface DeviceFilter {
  readonly text?: string;
  readonly owner?: string;
  readonly domain?: string;
  readonly gateway?: string;
  readonly visibility?: 'public' | 'private';
  /** These alone. */
  readonly ids?: readonly string[];
}

/** A text as the q language takes it: in quotes; what could end them stands for any character. */
const quoted = (text: string): string => `'${text.replaceAll("'", '.')}'`;

/** The text anywhere, in any case, as a pattern of linear time. */
const pattern = (text: string): string =>
  quoted(`(?i)${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/[;,]/g, '.')}`);

/** Ids in one question: the filter of a list has an end. */
const idsPerQuestion = 40;

/** The ids, cut into as many questions as it takes. */
export function* idsInParts(ids: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < ids.length; from += idsPerQuestion) {
    yield ids.slice(from, from + idsPerQuestion);
  }
}

/** One of these ids, in the q language. */
export const idIsOneOf = (ids: readonly string[]): string => `id==${ids.map(quoted).join(',')}`;

/**
 * The filters to ask the service for, several of many ids. All words are looked for in names, and
 * all in ids, in any order; the language cannot join the two by "or": so there are two.
 */
export function deviceQueries(filter: DeviceFilter): readonly string[] {
  const { text = '', owner, domain, gateway, visibility, ids } = filter;
  const tests = [
    ...(owner === undefined ? [] : [`owner==${quoted(owner)}`]),
    ...(domain === undefined ? [] : [`domain==${quoted(domain)}`]),
    ...(gateway === undefined ? [] : [`gateway_id==${quoted(gateway)}`]),
    // Absent counts as public, so public is what is not private.
    ...(visibility === undefined
      ? []
      : [visibility === 'private' ? 'visibility==private' : 'visibility!=private']),
  ];
  const words = text.split(/\s+/).filter((word) => word !== '');
  const fields = words.length === 0 ? [undefined] : ['name', 'id'];
  const parts = ids === undefined ? [[]] : [...idsInParts(ids)].map((some) => [idIsOneOf(some)]);
  return parts.flatMap((part) =>
    fields.map((field) =>
      [
        ...tests,
        ...part,
        ...(field === undefined ? [] : words.map((word) => `${field}~=${pattern(word)}`)),
      ].join(';'),
    ),
  );
}
