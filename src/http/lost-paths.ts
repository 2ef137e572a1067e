import { type DomainError, notFound } from '../domain/errors.ts';

/** First words of the API that clients request without /api/v2 in front. */
const wordsOfV2: ReadonlySet<string> = new Set([
  'auth',
  'devices',
  'gateways',
  'notifications',
  'ontologies',
  'projects',
  'sensors_data',
  'socials',
  'users',
]);

/** Wrong prefixes of such a word. */
const strayPrefix = /^\/+(?:api\/+)?(?:(v1|v2)\/+)?/i;

/** The refusal of a path at which there is nothing, with the one that was meant where it shows. */
export function nothingAt(url: string): DomainError {
  const [path = ''] = url.split('?', 1);
  const shown = path.slice(0, 200);
  const meant = meantBy(shown);
  if (meant === undefined) return notFound(`there is nothing at ${shown}: see /docs`);
  return notFound(`there is nothing at ${shown}: the API has it at ${meant}, see /docs`);
}

function meantBy(path: string): string | undefined {
  const [prefix = '', version] = strayPrefix.exec(path) ?? [];
  const rest = path.slice(prefix.length);
  const [word = ''] = rest.split('/', 1);
  const isOfV1 = version?.toLowerCase() === 'v1' || (version === undefined && word === 'sensors');
  const isKnown = wordsOfV2.has(word) || (isOfV1 && word === 'sensors');
  const meant = `/api/${isOfV1 ? 'v1' : 'v2'}/${rest}`;
  return isKnown && meant !== path ? meant : undefined;
}
