import type { ValueSource, WantedValues } from '../../domain/members/wanted-values.ts';
import type { SessionKey } from '../../domain/messaging/message.ts';

/** Of which devices these filters include values: each once for each filter. */
export const sourcesOf = (filters: Iterable<string>): readonly ValueSource[] =>
  Array.from(filters).flatMap((filter) => sourceOf(filter) ?? []);

/**
 * Sessions that this process gives away: called with their filters, it wants their values until it
 * is called without, as another process has said what it wants, or this one has the session again.
 */
export function createGiven({ count }: Pick<WantedValues, 'count'>) {
  const given = new Map<SessionKey, readonly ValueSource[]>();
  return (key: SessionKey, filters: Iterable<string> = []): void => {
    const sources = sourcesOf(filters);
    count(sources, 1);
    count(given.get(key) ?? [], -1);
    if (sources.length > 0) given.set(key, sources);
    else given.delete(key);
  };
}

function sourceOf(filter: string): ValueSource | undefined {
  const levels = filter.split('/');
  const [first = '', device, kind] = levels[0] === '$share' ? levels.slice(2) : levels;
  if (first === '#') return '+';
  if ((first !== 'devices' && first !== '+') || device === undefined) return undefined;
  if (device === '#') return '+';
  return kind === 'sensors' || kind === '+' || kind === '#' ? device : undefined;
}
