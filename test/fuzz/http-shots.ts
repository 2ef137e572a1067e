import type { Random } from './random.ts';

/** One request of a stranger. */
export interface Shot {
  readonly method: string;
  /** From the root, with its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** What is known of the API: its paths with methods, and the names that occur in its messages. */
export interface Surface {
  readonly operations: readonly { readonly method: string; readonly path: string }[];
  readonly queryNames: readonly string[];
  readonly fieldNames: readonly string[];
}

const hostileTexts: readonly string[] = [
  ...['', ' ', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '\0', '\ud800', '..'],
  ...['%00', '%2e%2e', 'null', 'NaN', '1e999', '-1', '0', '99999999999999999999', '<script>', "'"],
  ...['a'.repeat(300), '2026-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '1h', 'me', 'guest', '~='],
  ...['name~=(a+)+$', 'TC1>3;SM1<4', 'sensors==TC1', 'avg', 'Europe/Paris', 'D1,D2,D3', '=1+1'],
];
const ids: readonly string[] = ['D1', 'D2', 'D3', 'TC1', 'SM1', 'pump', 'G1', 'P1', 'honest'];
const types: readonly string[] = [
  ...['application/json', 'text/plain', 'application/x-ndjson', 'text/csv', 'application/xml'],
  ...['application/json; charset=utf-8', 'application/x-www-form-urlencoded', ''],
];

/** A request to anywhere, in any shape; nearly right more often than not. */
export function httpShot(random: Random, surface: Surface, token: string | undefined): Shot {
  const { method, path } = random.pick(surface.operations);
  const hasBody = method !== 'GET' || random.once(20);
  const body = hasBody ? bodyOf(random, surface) : undefined;
  const credential = random.once(30) ? textOf(random) : token;
  return {
    method: random.once(30) ? random.pick(['PATCH', 'PUT', 'OPTIONS', 'HEAD', 'QUERY']) : method,
    target: filledPath(random, path) + queryOf(random, surface),
    headers: {
      ...(credential !== undefined && { authorization: `Bearer ${headerText(credential)}` }),
      ...(body !== undefined && { 'content-type': random.pick(types) }),
      ...(random.once(10) && { 'if-none-match': `"${random.below(9)}"` }),
      ...(random.once(4) && {
        'accept-encoding': random.pick(['gzip', 'br', 'identity;q=0', '*']),
      }),
      ...(random.once(10) && { accept: random.pick(['text/csv', 'application/json', '*/*', 'x']) }),
    },
    ...(body !== undefined && { body }),
  };
}

const headerText = (text: string): string => text.replace(/[^\x21-\x7e]/g, '?');

function filledPath(random: Random, path: string): string {
  return path.replace(/\{\w+\}/g, () =>
    encoded(random.once(4) ? textOf(random) : random.pick(ids)),
  );
}

function queryOf(random: Random, { queryNames }: Surface): string {
  const parts = Array.from({ length: random.below(4) }, () => {
    const value = random.once(2) ? String(random.below(2_000)) : textOf(random);
    return `${random.pick(queryNames)}=${encoded(value)}`;
  });
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

/** Lone surrogates have no encoding; they are sent as the bytes that stand for them. */
function encoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ed%a0%80';
}

function textOf(random: Random): string {
  if (random.once(6)) return random.bytes(random.below(24)).toString('latin1');
  return random.pick(random.once(2) ? hostileTexts : ids);
}

function bodyOf(random: Random, surface: Surface): string | Buffer {
  const kind = random.below(12);
  if (kind === 0) return random.bytes(random.below(400));
  if (kind === 1) return textOf(random);
  if (kind === 2) return `${'['.repeat(random.below(3_000))}`;
  if (kind === 3) {
    const line = JSON.stringify({ device_id: 'D1', sensor_id: 'TC1', value: random.below(99) });
    return Array.from({ length: random.below(2_000) }, () => line).join('\n');
  }
  const written = JSON.stringify(jsonOf(random, surface, 0)) ?? '';
  if (kind > 5) return written;
  const at = random.below(written.length + 1);
  return kind === 4 ? written.slice(0, at) : `${written.slice(0, at)},${written.slice(at)}`;
}

const depthMax = 4;

function jsonOf(random: Random, surface: Surface, depth: number): unknown {
  const kind = random.below(depth > depthMax ? 5 : 9);
  if (kind === 0) return random.below(2) === 0;
  if (kind === 1) return random.below(1e6) / 1_000 - 300;
  if (kind === 2) return null;
  if (kind < 5) return textOf(random);
  if (kind === 5) {
    const length = random.once(20) ? random.below(3_000) : random.below(5);
    return Array.from({ length }, () => jsonOf(random, surface, depth + 2));
  }
  const fields = Array.from({ length: random.below(6) }, () => [
    random.once(8) ? textOf(random) : random.pick(surface.fieldNames),
    jsonOf(random, surface, depth + 1),
  ]);
  return Object.fromEntries(fields);
}

interface ApiDocument {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly parameters?: readonly { name: string }[] }>>>
  >;
}

/** Reads the surface of an API from its OpenAPI documents, by prefix of their paths. */
export function surfaceOf(documents: Readonly<Record<string, unknown>>): Surface {
  const operations: { method: string; path: string }[] = [];
  const queryNames = new Set<string>();
  const fieldNames = new Set<string>();
  for (const [prefix, document] of Object.entries(documents)) {
    // The service's own documents; a path that is not there is never shot at.
    for (const [path, methods] of Object.entries((document as ApiDocument).paths)) {
      for (const [method, { parameters = [] }] of Object.entries(methods)) {
        operations.push({ method: method.toUpperCase(), path: prefix + path });
        for (const { name } of parameters) queryNames.add(name);
      }
    }
    collectFields(document, fieldNames);
  }
  for (const path of ['/', '/docs', '/metrics', '/healthz', '/readyz', '/update', '/write']) {
    operations.push({ method: 'GET', path }, { method: 'POST', path });
  }
  return { operations, queryNames: [...queryNames], fieldNames: [...fieldNames] };
}

function collectFields(node: unknown, into: Set<string>): void {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties' && typeof value === 'object' && value !== null) {
      for (const name of Object.keys(value)) into.add(name);
    }
    collectFields(value, into);
  }
}
