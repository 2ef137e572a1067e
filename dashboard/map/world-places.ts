import { readWorldPlaces, type WorldPlaces } from './world-names.ts';

let known: Promise<WorldPlaces> | undefined;

/** The names that maps show, fetched once, when the first map wants them. */
export function worldPlaces(): Promise<WorldPlaces> {
  known ??= import('kipimo:world-places')
    .then(({ text }) => readWorldPlaces(text))
    .catch((error: unknown) => {
      known = undefined;
      throw error;
    });
  return known;
}
