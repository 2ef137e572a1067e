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

/**
 * The filters to ask the service for. All words are looked for in names, and all in ids, in any
 * order; the language cannot join the two by "or": so there are two.
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
    ...(ids === undefined ? [] : [`id==${ids.map(quoted).join(',')}`]),
  ];
  const words = text.split(/\s+/).filter((word) => word !== '');
  const fields = words.length === 0 ? [undefined] : ['name', 'id'];
  return fields.map((field) =>
    [
      ...tests,
      ...(field === undefined ? [] : words.map((word) => `${field}~=${pattern(word)}`)),
    ].join(';'),
  );
}
