import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { channelLimits } from '../src/channels/limits.ts';
import type { BudgetRule } from '../src/domain/budgets/budget.ts';
import { budgetTable } from '../src/domain/budgets/budget-table.ts';
import { retentionLimits } from '../src/domain/datapoints/retention/retention.ts';
import { limits } from '../src/domain/limits.ts';
import { evaluationLimits } from '../src/domain/notifications/evaluation-limits.ts';
import { invitationLimits } from '../src/domain/sharing/invitations.ts';
import { endpointLimits } from '../src/http/compatible/endpoint-limits.ts';
import { requestLimits } from '../src/http/request-limits.ts';
import { csvLimits } from '../src/lib/csv-reader.ts';
import { mqttLimits } from '../src/mqtt/limits.ts';

const root = resolve(import.meta.dirname, '..');

/** docs/limits.md: the budgets, and every other limit with the comment beside it. */
export async function limitsPage(): Promise<string> {
  const budgets = Object.entries<BudgetRule>(budgetTable).map(
    ([name, rule]) =>
      `| \`${name}\` | ${rule.what} | ${amount(rule.total, rule)} | ` +
      `${amount(rule.perAccount, rule)} | ${amount(rule.perAddress, rule)} | ` +
      `${amount(rule.guests, rule)} | ${amount(rule.floor, rule)} | ${rule.refused} |`,
  );
  return [
    '# Limits',
    '',
    '<!-- Generated from src/domain/budgets/budget-table.ts and the limits of src/domain, ' +
      'src/http, src/mqtt and src/channels by "npm run docs"; edit those files, not this one. -->',
    '',
    'What strangers share has an end, and nobody can use it up for others. A **budget** is room',
    'for the whole service, with a share for each account (with all its keys), for the guests at',
    'each address (IPv6 by its /64 network, this machine too), and for all guests together. One',
    'identity has at most half of any total. When the total is full, an account still gets the',
    '**floor**: strangers who fill it refuse nobody who needs little.',
    '',
    'A refusal names its budget. An administrator changes totals with `KIPIMO_BUDGETS` (shares',
    'follow in proportion), and sees who uses what with `kipimo usage`, on the screen of the',
    'service, at `GET /api/v2/admin/usage`, and in `/metrics`: `kipimo_budget_used`,',
    '`kipimo_budget_size` and `kipimo_budget_refusals_total`, each with the label `budget`.',
    '',
    '## Budgets',
    '',
    '| budget | what is counted | total | an account | an address | all guests | floor | refused |',
    '|---|---|---|---|---|---|---|---|',
    ...budgets,
    '',
    '## Sizes, numbers and times',
    '',
    'Limits of one thing: a text, a request, a list. Names end with the unit: `Bytes`, `Ms`',
    '(milliseconds), `Seconds`, `Characters`; others are numbers of things.',
    '',
    ...(await table('src/domain/limits.ts', limits)),
    ...(await Promise.all(tables.map(section))).flat(),
    '',
  ].join('\n');
}

/** Further tables, each with its title, its file, and what that says. */
const tables = [
  ['Heads of requests', 'src/http/request-limits.ts', requestLimits],
  ['Endpoints for protocols of others', 'src/http/compatible/endpoint-limits.ts', endpointLimits],
  ['CSV', 'src/lib/csv-reader.ts', csvLimits],
  ['Retention', 'src/domain/datapoints/retention/retention.ts', retentionLimits],
  ['Evaluations of rules', 'src/domain/notifications/evaluation-limits.ts', evaluationLimits],
  ['Invitations', 'src/domain/sharing/invitations.ts', invitationLimits],
  ['Channels', 'src/channels/limits.ts', channelLimits],
  ['MQTT', 'src/mqtt/limits.ts', mqttLimits],
] as const;

const section = async ([title, file, values]: (typeof tables)[number]) => [
  ...['', `## ${title}`, ''],
  ...(await table(file, values)),
];

/** The lines of a table: each limit of a file with the comment that stands above it. */
async function table(
  file: string,
  values: Readonly<Record<string, number>>,
): Promise<readonly string[]> {
  const source = await readFile(join(root, file), 'utf8');
  return [
    '| limit | value | why |',
    '|---|---|---|',
    ...Object.entries(values).map(
      ([name, value]) => `| \`${name}\` | ${plain(name, value)} | ${commentOf(source, name)} |`,
    ),
  ];
}

const units = ['B', 'KiB', 'MiB', 'GiB'] as const;

function amount(value: number, { unit }: BudgetRule): string {
  if (value === 0) return '–';
  return unit === 'bytes' ? bytes(value) : value.toLocaleString('en');
}

function bytes(value: number): string {
  const power = value === 0 ? 0 : Math.min(3, Math.floor(Math.log2(value) / 10));
  const scaled = value / 1_024 ** power;
  return `${Number.isInteger(scaled) ? scaled : scaled.toFixed(1)} ${units[power] ?? 'B'}`;
}

function plain(name: string, value: number): string {
  if (/Bytes/.test(name)) return bytes(value);
  if (/Ms(Max|Min)?$/.test(name)) return duration(value);
  return value.toLocaleString('en');
}

const steps = [
  ['day', 86_400_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

function duration(value: number): string {
  const [word, size] = steps.find(([, step]) => value >= step && value % step === 0) ?? ['ms', 1];
  return `${value / size} ${word}${word === 'day' && value > size ? 's' : ''}`;
}

/** The documentation comment in front of a limit, as one line; empty where the name says it. */
function commentOf(source: string, name: string): string {
  const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*${name}:`).exec(source)?.[1];
  return (comment ?? '')
    .replace(/\n\s*\*?/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/\|/g, '\\|')
    .trim();
}
