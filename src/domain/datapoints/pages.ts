import type { Instant } from '../../lib/clock.ts';
import type { Page } from './datapoint-store.ts';

/**
 * The rest of the page after a step of `count` datapoints, at least one: from where it ended,
 * without what was seen at that order time.
 */
export function following(page: Page, count: number, timeAt: (index: number) => Instant): Page {
  const end = timeAt(count - 1);
  let skip = 1;
  while (skip < count && timeAt(count - 1 - skip) === end) skip += 1;
  // A whole step at one order time: some of those skipped may have it, too, so only the skip grows.
  if (skip === count) return { ...page, skip: page.skip + count };
  return page.order === 'asc' ? { ...page, from: end, skip } : { ...page, to: end, skip };
}
