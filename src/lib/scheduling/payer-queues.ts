/** Waiting items by payer: one of each payer, then the next of each; those of a payer in order. */
export class PayerQueues<Item> {
  /** The next payer first; each has an item at least. */
  readonly #byPayer = new Map<string, Set<Item>>();
  /** Items of all payers. */
  size = 0;

  /** Puts an item behind those of its payer; one that waits already keeps its place. */
  push(payer: string, item: Item): void {
    const own = this.#byPayer.get(payer) ?? new Set();
    if (own.has(item)) return;
    own.add(item);
    this.#byPayer.set(payer, own);
    this.size += 1;
  }

  /** Takes the first item of the next payer, or of this one, who goes behind all others. */
  shift(payer = this.#byPayer.keys().next().value): Item | undefined {
    const own = payer === undefined ? undefined : this.#byPayer.get(payer);
    if (payer === undefined || own === undefined) return undefined;
    const [first] = own;
    own.delete(first as Item);
    this.#byPayer.delete(payer);
    if (own.size > 0) this.#byPayer.set(payer, own);
    this.size -= 1;
    return first;
  }

  /** Takes an item out that waits. */
  remove(payer: string, item: Item): void {
    const own = this.#byPayer.get(payer);
    if (own?.delete(item) !== true) return;
    this.size -= 1;
    if (own.size === 0) this.#byPayer.delete(payer);
  }

  countOf(payer: string): number {
    return this.#byPayer.get(payer)?.size ?? 0;
  }
}

/** The first of each list, then the second of each, and so on: `count` in all. */
export function oneOfEach<Item>(lists: readonly (readonly Item[])[], count: number): Item[] {
  const found: Item[] = [];
  const longest = lists.reduce((max, { length }) => Math.max(max, length), 0);
  for (let round = 0; round < longest && found.length < count; round += 1) {
    const next = lists.flatMap((list) => (round < list.length ? [list[round] as Item] : []));
    found.push(...next.slice(0, count - found.length));
  }
  return found;
}
