import type { Dictionary, MessageTable } from './dictionary.ts';
import { firstWords } from './en/first-words.ts';
import { restWords } from './en/rest-words.ts';

const first: MessageTable = firstWords;

/** Of a language, the texts that home and the frame of every screen say, as English parts them. */
export const firstOf = (dictionary: Dictionary): MessageTable => pick(dictionary, isFirst);

/** Those that a device and the map say beside them. */
export const laterOf = (dictionary: Dictionary): MessageTable =>
  pick(dictionary, (section, name) => !isFirst(section, name) && !isRest(section));

/** All the others. */
export const restOf = (dictionary: Dictionary): MessageTable => pick(dictionary, isRest);

const isFirst = (section: string, name: string): boolean =>
  first[section] !== undefined && Object.hasOwn(first[section], name);

const isRest = (section: string): boolean => Object.hasOwn(restWords, section);

function pick(
  // The texts that are there are all messages; a draft section may lack some.
  dictionary: object,
  isWanted: (section: string, name: string) => boolean,
): MessageTable {
  const sections = Object.entries(dictionary as MessageTable).map(
    ([section, texts]) =>
      [
        section,
        Object.fromEntries(Object.entries(texts).filter(([name]) => isWanted(section, name))),
      ] as const,
  );
  return Object.fromEntries(sections.filter(([, texts]) => Object.keys(texts).length > 0));
}
