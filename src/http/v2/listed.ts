import { type JsonAnswer, json, type ListAnswer, list } from '../answer.ts';
import { pageHeaders } from '../paging.ts';

/** A page of a list, under the name of its items. */
type StorePage<Name extends string, Item> = { readonly total: number } & {
  readonly [Key in Name]: readonly Item[];
};

interface Page {
  readonly limit: number;
  readonly offset: number;
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
  { url, limit, offset }: Page & { readonly url: string },
  name: Name,
  readPage: (page: Page) => Promise<StorePage<Name, Item>>,
  toWire: (item: Item) => Message,
): Promise<JsonAnswer<readonly Message[]> | ListAnswer<Message>> {
  const first = await readPage({ limit: Math.min(limit, firstStepItems), offset });
  const headers = pageHeaders({ url, total: first.total, limit, offset });
  const messages = first[name].map(toWire);
  if (limit <= firstStepItems || messages.length < firstStepItems) return json(messages, headers);
  const rest = { limit: limit - firstStepItems, offset: offset + firstStepItems };
  const read = async (page: Page): Promise<readonly Message[]> =>
    (await readPage(page))[name].map(toWire);
  return list(stepsOf(messages, rest, read), headers);
}

async function* stepsOf<Message>(
  first: readonly Message[],
  rest: Page,
  read: (page: Page) => Promise<readonly Message[]>,
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
