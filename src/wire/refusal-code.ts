import { refusalPatterns } from './refusal-patterns.ts';

/** A code that some sentence of the service has. */
export type ExactCode = keyof typeof refusalPatterns;

export interface CodedRefusal {
  /** More exact than the kind of the error, and stable. */
  readonly code: ExactCode;
  readonly params: Readonly<Record<string, string | number>>;
}

interface Pattern {
  readonly code: ExactCode;
  /** The texts around the parameters: one more than there are names. */
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

/** A sentence with a long value in it is matched no further. */
const charactersMax = 2_000;
/** Sentences within sentences: a line of an update that was given up. */
const depthMax = 3;

const numbers: ReadonlySet<string> = new Set([
  'min',
  'max',
  'got',
  'seconds',
  'days',
  'line',
  'at',
]);
/** A field of a message has a short name; a longer text is part of another sentence. */
const fieldName = /^[\w .[\]-]{1,60}$/;
const fields: ReadonlySet<string> = new Set(['field', 'label', 'where', 'tries']);

let patterns: readonly Pattern[] | undefined;

function compile(): readonly Pattern[] {
  return Object.entries(refusalPatterns).flatMap(([code, sentences]) =>
    sentences.map((sentence) => {
      const parts = sentence.split(/\{([\w*]*)\}/);
      return {
        code: code as ExactCode,
        texts: parts.filter((_, place) => place % 2 === 0),
        names: parts.filter((_, place) => place % 2 === 1),
      };
    }),
  );
}

/** The code and the parameters of a sentence; undefined where it has none but its kind. */
export function codeOf(sentence: string, depth = 0): CodedRefusal | undefined {
  if (sentence.length > charactersMax || depth > depthMax) return undefined;
  patterns ??= compile();
  for (const { code, texts, names } of patterns) {
    const values = valuesIn(sentence, texts);
    if (values === undefined) continue;
    const params = new Map<string, string | number>();
    let inner: CodedRefusal | undefined;
    let fits = true;
    for (const [place, name] of names.entries()) {
      const value = values[place] ?? '';
      if (fields.has(name) && !fieldName.test(value)) fits = false;
      if (name === '*') {
        inner = codeOf(value, depth + 1);
        params.set('reason', value);
      } else if (name !== '') {
        params.set(name, numbers.has(name) && /^\d{1,15}$/.test(value) ? Number(value) : value);
      }
    }
    if (!fits) continue;
    if (inner !== undefined) params.delete('reason');
    const own = Object.fromEntries(params);
    return { code: inner?.code ?? code, params: { ...own, ...inner?.params } };
  }
  return undefined;
}

/** Finds the values between the texts; undefined unless all are there, in their order. */
function valuesIn(sentence: string, texts: readonly string[]): readonly string[] | undefined {
  const [first = '', ...others] = texts;
  if (!sentence.startsWith(first)) return undefined;
  if (others.length === 0) return sentence === first ? [] : undefined;
  const values: string[] = [];
  let from = first.length;
  for (const [place, text] of others.entries()) {
    const isLast = place === others.length - 1;
    const at = isLast ? sentence.length - text.length : sentence.indexOf(text, from);
    if (at < from || !sentence.startsWith(text, at)) return undefined;
    values.push(sentence.slice(from, at));
    from = at + text.length;
  }
  return values;
}
