import { type Vocabulary, vocabularies } from '../../wire/vocabulary.ts';
import { json } from '../answer.ts';
import { defineRoute, messageAnswer, type Route } from '../route.ts';

// Vocabularies change with a release, at most.
const cacheHeaders = { 'cache-control': 'public, max-age=86400' };

/** Vocabularies for pick lists: offered, never enforced [contract 5]. */
export function ontologyRoutes(): readonly Route[] {
  return vocabularies.map(ontologyRoute);
}

function ontologyRoute({ name, summary, schema, terms }: Vocabulary): Route {
  return defineRoute({
    method: 'GET',
    path: `/ontologies/${name}`,
    tag: 'Vocabularies',
    summary,
    answer: messageAnswer('All terms, by id.', schema),
    errors: ['unauthenticated'],
    handle: async () => json(terms, cacheHeaders),
  });
}
