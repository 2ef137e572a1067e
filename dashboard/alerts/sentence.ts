import {
  type Comparison,
  type Condition,
  isNumeral,
  operators,
  type Sentence,
} from './read-sentence.ts';

/** The expression of the API that says the same [contract 7]. */
export function expressionOf({ conditions, forSeconds, clear }: Sentence): string {
  const tests = conditions.map(testOf).join('; ');
  const hold = forSeconds === 0 || tests === '' ? '' : ` for ${durationOf(forSeconds)}`;
  return tests === '' || clear === undefined
    ? tests + hold
    : `${tests}${hold}; clear ${testOf(clear)}`;
}

function testOf(condition: Condition): string {
  switch (condition.kind) {
    case 'silent':
      return `silent(${condition.sensor}, ${durationOf(condition.seconds)})`;
    case 'range': {
      const operator = condition.placing === 'between' ? '==' : '!=';
      const ends = `${operandOf(condition.low)}..${operandOf(condition.high)}`;
      return `${nameOf(condition.sensor)} ${operator} ${ends}`;
    }
    case 'compare': {
      const operator = operators[condition.comparison];
      return `${nameOf(condition.sensor)} ${operator} ${operandOf(condition.value)}`;
    }
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const plainName = /^[A-Za-z0-9_][\w.:-]*$/;

const nameOf = (sensor: string): string => (plainName.test(sensor) ? sensor : quoted(sensor));

const operandOf = (text: string): string => (isNumeral(text) ? text : quoted(text));

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** In the largest unit that leaves no rest: 90s, 20m, 2h. */
function durationOf(seconds: number): string {
  const [unit, size] = units.find(([, length]) => seconds % length === 0) ?? ['s', 1];
  return `${seconds / size}${unit}`;
}

/** What is asked for before it may fire again, when somebody asks for it first. */
export const opposites: Readonly<Record<Comparison, Comparison>> = {
  below: 'above',
  atMost: 'above',
  above: 'below',
  atLeast: 'below',
  equals: 'differs',
  differs: 'equals',
};

/** The sensors that a sentence names, each once. */
export function sensorsOf({ conditions, clear }: Sentence): readonly string[] {
  const named = conditions.map(({ sensor }) => sensor);
  return [...new Set([...named, ...(clear === undefined ? [] : [clear.sensor])])];
}
