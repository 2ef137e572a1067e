import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { Listing, ListPart } from '../../domain/listing.ts';
import { Flag, OneOf, type Wire } from '../../wire/fields.ts';
import { type Spelling, shortMetaCharacters, withShortMeta } from '../../wire/spelling.ts';
import { type JsonAnswer, json, type ListAnswer, list } from '../answer.ts';
import { messageAnswer, type Route, type RouteRequest, type TaggedRoutes } from '../route.ts';

/** For reads that show last values [contract 5]. */
export const valueParameters = {
  calibrated: Type.Optional(Flag('false gives last values as they were pushed.', true)),
};

/** Reads the options that `valueParameters` ask for. */
export const valueOptions = (query: { readonly calibrated?: boolean }) => ({
  isCalibrated: query.calibrated !== false,
});

/** For lists of devices: what is long in `meta` may be left out. */
export const metaParameter = {
  meta: Type.Optional(
    OneOf(
      ['whole', 'short'],
      `short: texts directly in meta with more than ${shortMetaCharacters} characters are left ` +
        'out, so that a list of devices with photos stays light.',
      'whole',
    ),
  ),
};

/** The words that `metaParameter` asks for. */
export const metaSpelling = (
  { meta }: { readonly meta?: 'whole' | 'short' },
  spelling: Spelling,
): Spelling => (meta === 'short' ? withShortMeta(spelling) : spelling);

/** The parameters of a list that is read page by page. */
export const pageQuery = (limits: { readonly max: number; readonly usual: number }) => ({
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.max, default: limits.usual })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});

/** X-Total-Count and, where there are other pages, Link [RFC 8288] with relative references. */
export function pageHeaders(page: {
  readonly url: string;
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}): Readonly<Record<string, string>> {
  const { total, limit, offset } = page;
  const links: string[] = [];
  const add = (relation: string, target: number) => {
    links.push(`<${withPage(page.url, target, limit)}>; rel="${relation}"`);
  };
  if (limit > 0 && total > 0) {
    if (offset > 0) add('first', 0);
    if (offset > 0) add('prev', Math.max(0, offset - limit));
    if (offset + limit < total) add('next', offset + limit);
    if (offset + limit < total) add('last', Math.floor((total - 1) / limit) * limit);
  }
  const count = { 'x-total-count': String(total) };
  return links.length === 0 ? count : { ...count, link: links.join(', ') };
}

function withPage(url: string, offset: number, limit: number): string {
  const [path = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('limit', String(limit));
  parameters.set('offset', String(offset));
  return `${path}?${parameters}`;
}

/** Each item may be half a megabyte: few are read at once, and more while they turn out small. */
const firstStepItems = 20;
const stepItemsMax = 500;
const stepCharacters = 262_144;

/**
 * Answers a list of things that are read from the store in steps, as fast as the client reads. One
 * that is added or deleted meanwhile may be missed or come twice, as between two pages.
 */
export async function listed<Name extends string, Item, Message>(
  { url, query }: { readonly url: string; readonly query: Partial<ListPart> },
  usualLimit: number,
  name: Name,
  readPage: (page: ListPart) => Promise<Listing<Name, Item>>,
  toWire: (item: Item) => Message,
  firstItems = firstStepItems,
): Promise<JsonAnswer<readonly Message[]> | ListAnswer<Message>> {
  const { limit = usualLimit, offset = 0 } = query;
  const first = await readPage({ limit: Math.min(limit, firstItems), offset });
  const headers = pageHeaders({ url, total: first.total, limit, offset });
  const messages = first[name].map(toWire);
  if (limit <= firstItems || messages.length < firstItems) return json(messages, headers);
  const rest = { limit: limit - firstItems, offset: offset + firstItems };
  const read = async (page: ListPart): Promise<readonly Message[]> =>
    (await readPage(page))[name].map(toWire);
  return list(stepsOf(messages, rest, read), headers);
}

/** A route that lists things page by page. */
export function listRoute<
  Name extends string,
  Item,
  Schema extends TSchema,
  Narrowing extends TProperties = Record<never, never>,
>(
  route: TaggedRoutes,
  path: string,
  described: {
    readonly summary: string;
    /** Of the answer: what it has, and what X-Total-Count counts. */
    readonly said: string;
    readonly schema: Schema;
    readonly page: Parameters<typeof pageQuery>[0];
    /** Parameters beside those of the page. */
    readonly narrowing?: Narrowing;
    readonly errors?: Route['errors'];
    readonly name: Name;
    /** How many are read at once; absent: few, as each may be large. */
    readonly firstItems?: number;
    readonly read: (
      request: RouteRequest<Static<TObject<Narrowing>>>,
      page: ListPart,
    ) => Promise<Listing<Name, Item>>;
    readonly toWire: (item: Item) => Wire<Schema>;
  },
): Route {
  const { said, schema, page, narrowing, name, firstItems, read, toWire, ...about } = described;
  const list = (request: RouteRequest<Partial<ListPart> & Static<TObject<Narrowing>>>) =>
    listed(request, page.usual, name, (some) => read(request, some), toWire, firstItems);
  return route.get(path, {
    ...about,
    query: Type.Object({ ...pageQuery(page), ...narrowing }),
    answer: messageAnswer(said, Type.Array(schema)),
    // Of messages of this schema, whatever it is.
    handle: list as never,
  });
}

async function* stepsOf<Message>(
  first: readonly Message[],
  rest: ListPart,
  read: (page: ListPart) => Promise<readonly Message[]>,
): AsyncGenerator<readonly Message[]> {
  let { limit: left, offset } = rest;
  let step = first;
  let size = firstStepItems;
  for (;;) {
    yield step;
    const perItem = (JSON.stringify(step[0]) ?? '').length + 1;
    const fitting = Math.floor(stepCharacters / perItem);
    size = Math.max(1, Math.min(size * 2, fitting, stepItemsMax));
    const limit = Math.min(left, size);
    if (limit === 0) return;
    step = await read({ limit, offset });
    if (step.length === 0) return;
    left -= limit;
    offset += limit;
  }
}
