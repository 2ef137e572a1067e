/** Runs `work` for every item, at most `parallelMax` at a time; the first failure ends it. */
export async function inParallel<Item>(
  items: readonly Item[],
  parallelMax: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const line = items.values();
  let hasFailed = false;
  const takeNext = async () => {
    for (const item of line) {
      if (hasFailed) return;
      await work(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelMax, items.length) }, takeNext));
}
