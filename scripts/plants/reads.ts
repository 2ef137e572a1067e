import { limit, type Plant } from './plant.ts';

const filters = 'neighbours/reads-filters.test.ts';

/** Searches, lists, and room on the disk. */
export const plantsOfReads: readonly Plant[] = [
  {
    name: 'searches at once have a budget',
    ...{ file: filters, test: 'costly patterns', budget: 'long_reads', says: /./ },
  },
  {
    name: 'long work takes turns',
    ...{ file: filters, test: 'costly patterns', says: /./ },
    patches: [limit('turnMs: 5', 'turnMs: 5_000')],
  },
];
