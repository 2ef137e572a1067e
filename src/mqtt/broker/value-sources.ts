import type { ValueSource } from '../../domain/members/wanted-values.ts';

/** Of which devices these filters include values: each once for each filter. */
export const sourcesOf = (filters: Iterable<string>): readonly ValueSource[] =>
  Array.from(filters).flatMap((filter) => sourceOf(filter) ?? []);

function sourceOf(filter: string): ValueSource | undefined {
  const levels = filter.split('/');
  const [first = '', device, kind] = levels[0] === '$share' ? levels.slice(2) : levels;
  if (first === '#') return '+';
  if ((first !== 'devices' && first !== '+') || device === undefined) return undefined;
  if (device === '#') return '+';
  return kind === 'sensors' || kind === '+' || kind === '#' ? device : undefined;
}
