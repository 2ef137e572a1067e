import { vocabularies } from '../../wire/vocabulary.ts';
import { json } from '../answer.ts';
import { messageAnswer, type Route, routesOf } from '../route.ts';

// Vocabularies change with a release, at most.
const cacheHeaders = { 'cache-control': 'public, max-age=86400' };

/** Vocabularies for pick lists: offered, never enforced [contract 5]. */
export const ontologyRoutes = (): readonly Route[] =>
  vocabularies.map(({ name, summary, schema, terms }) =>
    routesOf('Vocabularies').get(`/ontologies/${name}`, {
      summary,
      answer: messageAnswer('All terms, by id.', schema),
      errors: ['unauthenticated'],
      handle: async () => json(terms, cacheHeaders),
    }),
  );
