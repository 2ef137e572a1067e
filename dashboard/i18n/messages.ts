/** A text with `{name}` blanks; where a number decides its form, one text per plural category. */
export type Message = string | PluralMessage;

/** Which of them is taken is decided by the parameter `count`. */
export interface PluralMessage {
  readonly zero?: string;
  readonly one?: string;
  readonly two?: string;
  readonly few?: string;
  readonly many?: string;
  readonly other: string;
}

/** What fills the blanks. Numbers are written in the way of the language. */
export type MessageParams = Readonly<Record<string, string | number>>;

/** How one language writes numbers and chooses plurals. */
export interface Grammar {
  readonly plurals: Intl.PluralRules;
  readonly numbers: Intl.NumberFormat;
}

/** The grammar of a language tag such as "fr", made when it is first asked for: that takes long. */
export function createGrammar(language: string): Grammar {
  let plurals: Intl.PluralRules | undefined;
  let numbers: Intl.NumberFormat | undefined;
  return {
    get plurals() {
      // In the Portuguese of these words, that of Africa and Europe, zero takes the plural.
      plurals ??= new Intl.PluralRules(language === 'pt' ? 'pt-PT' : language);
      return plurals;
    },
    get numbers() {
      numbers ??= new Intl.NumberFormat(language);
      return numbers;
    },
  };
}

/** Counts below a thousand are written alike in all languages that there are. */
const isPlain = (value: number): boolean => Number.isInteger(value) && value >= 0 && value < 1_000;

/** Spaces where no line ends: those of French marks, and the one between a number and its noun. */
const unbroken = /(«) | ([:;?!»](?!=))|^(\{count\}) (\S+)$|^(\S+) (\{count\})$/g;

/** Fills a message in. A blank without a parameter stays as written, so that the slip is seen. */
export function fillMessage(message: Message, grammar: Grammar, params: MessageParams): string {
  const form = typeof message === 'string' ? message : chooseForm(message, grammar, params);
  const text = form.replace(unbroken, '$1$3$5\u00a0$2$4$6');
  if (!text.includes('{')) return text;
  return text.replace(/\{(\w+)\}/g, (blank, name: string) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (value === undefined) return blank;
    if (typeof value === 'string') return value;
    return isPlain(value) ? String(value) : grammar.numbers.format(value);
  });
}

function chooseForm(message: PluralMessage, grammar: Grammar, params: MessageParams): string {
  const count = params['count'];
  if (typeof count !== 'number') return message.other;
  // "No devices" reads better than "0 devices" in every language, where it is given.
  if (count === 0 && message.zero !== undefined) return message.zero;
  return message[grammar.plurals.select(count)] ?? message.other;
}

/** The names of the blanks of a message, each once. */
export function blanksOf(message: Message): readonly string[] {
  const texts = typeof message === 'string' ? [message] : Object.values(message);
  const names = texts.flatMap((text: string) =>
    [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ''),
  );
  return [...new Set(names)].sort();
}
