import { codeOf } from '../../src/wire/refusal-code.ts';
import type { RefusalWords } from './refusal-words.ts';

export interface ExactCodeAndParams {
  readonly code: string;
  readonly params: Readonly<Record<string, string | number>>;
}

/** Parameters whose values have a name in the language of the reader. */
const named: ReadonlySet<string> = new Set(['field', 'what', 'scope', 'channel']);

/** Parameters that not every sentence of a code has. */
const unsaid: ReadonlySet<string> = new Set(['max', 'got', 'value']);

/** Says refusals in the words of one language. */
export function createRefusalSentences(refusals: RefusalWords) {
  const sentences = new Map(Object.entries(refusals.sentences));
  const words = new Map(Object.entries(refusals.words));
  const fill = (name: string, values: ExactCodeAndParams['params']) =>
    sentences.get(name)?.replace(/\{(\w+)\}/g, (blank, param: string) => {
      const value = Object.hasOwn(values, param) ? String(values[param]) : undefined;
      if (value === undefined) return unsaid.has(param) ? '…' : blank;
      return named.has(param) ? (words.get(value) ?? value) : value;
    });

  /** undefined: no sentence has this code. */
  function ofCode({ code, params }: ExactCodeAndParams): string | undefined {
    const sentence = fill(code, params);
    if (sentence === undefined) return undefined;
    const around = (name: string, param: string, inner: string): string =>
      !Object.hasOwn(params, param) || code === name || code.startsWith('line_')
        ? inner
        : (fill(name, { ...params, reason: inner }) ?? inner);
    return around('given_up', 'tries', around('line_unreadable', 'line', sentence));
  }

  /** A sentence that the service wrote down, such as why a message failed. */
  function ofService(sentence: string): string {
    const exact = codeOf(sentence);
    return (exact && ofCode(exact)) ?? sentence;
  }

  return { ofCode, ofService };
}
