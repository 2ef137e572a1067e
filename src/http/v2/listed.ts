import { type JsonAnswer, json, type ListAnswer, list } from '../answer.ts';
import { pageHeaders } from '../paging.ts';

/** What a store answers to one page of a list. */
interface StorePage<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

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
export async function listed<Item, Message>(
  { url, limit, offset }: Page & { readonly url: string },
  read: (page: Page) => Promise<StorePage<Item>>,
  toWire: (item: Item) => Message,
): Promise<JsonAnswer<readonly Message[]> | ListAnswer<Message>> {
  const first = await read({ limit: Math.min(limit, firstStepItems), offset });
  const headers = pageHeaders({ url, total: first.total, limit, offset });
  const messages = first.items.map(toWire);
  if (limit <= firstStepItems || messages.length < firstStepItems) return json(messages, headers);
  const rest = { limit: limit - firstStepItems, offset: offset + firstStepItems };
  return list(stepsOf(messages, rest, read, toWire), headers);
}

async function* stepsOf<Item, Message>(
  first: readonly Message[],
  rest: Page,
  read: (page: Page) => Promise<StorePage<Item>>,
  toWire: (item: Item) => Message,
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
    const { items } = await read({ limit, offset });
    if (items.length === 0) return;
    step = items.map(toWire);
    left -= limit;
    offset += limit;
  }
}
