import { functionsOf, readCode } from './code-text.ts';
import type { SourceFile } from './source-files.ts';

const fileLinesMax = 400;
const functionLinesMax = 70;
/** Of a class, or a function with the functions inside. */
const closureLinesMax = 150;
const columnsMax = 100;

/** Longer ones of before, with their lines: they may not grow, and go once they are short. */
export const longClosures: Readonly<Record<string, number>> = {};

const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
const emptyWords = /(^|[-.])(helpers?|managers?|utils?|misc|common)([-.]|$)/;

/** Names that tools or habit prescribe. */
const givenNames: ReadonlySet<string> = new Set([
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
]);

interface BannedText {
  readonly pattern: RegExp;
  /** Where it must not stand: in code (texts and comments left out), or in comments. */
  readonly place: 'code' | 'comments';
  readonly isAllowedIn?: (path: string) => boolean;
}

const isProgram = (path: string): boolean =>
  /^(src|tools)\//.test(path) && !path.endsWith('.test.ts');

const bannedTexts: readonly BannedText[] = [
  { pattern: /\bas any\b|<any>|: any\b/, place: 'code' },
  { pattern: /@ts-(ignore|nocheck|expect-error)/, place: 'comments' },
  { pattern: /\b(TODO|FIXME|XXX|HACK)\b/, place: 'comments' },
  {
    pattern: /\bconsole\./,
    place: 'code',
    isAllowedIn: (path) => /^(scripts|bench|tools|src\/cli)\//.test(path),
  },
  {
    pattern: /\bDate\.now\(/,
    place: 'code',
    isAllowedIn: (path) => !isProgram(path) || path === 'src/lib/clock.ts',
  },
  {
    pattern: /\bprocess\.env\b/,
    place: 'code',
    isAllowedIn: (path) => !isProgram(path) || path === 'src/config/environment-file.ts',
  },
  { pattern: /\bexport default\b/, place: 'code' },
];

/** One sentence for everything about a code file that tidy does not accept. */
export function checkCode({ path, text }: SourceFile): readonly string[] {
  const lines = text.split('\n');
  const { withoutComments, bare } = readCode(text);
  const comments = text.replace(/[^\n]/g, (char, at: number) =>
    withoutComments[at] === char ? ' ' : char,
  );
  return [
    ...(lines.length > fileLinesMax + 1
      ? [`${path} has ${lines.length - 1} lines, at most ${fileLinesMax}`]
      : []),
    ...lines.flatMap((line, index) =>
      line.length > columnsMax && !/https?:\/\//.test(line)
        ? [`${path}:${index + 1} has ${line.length} columns, at most ${columnsMax}`]
        : [],
    ),
    ...bannedTexts.flatMap((banned) => findBanned(path, banned, { code: bare, comments })),
    ...(/\.tsx?$/.test(path) ? longFunctions(path, text) : []),
  ];
}

function findBanned(
  path: string,
  { pattern, place, isAllowedIn }: BannedText,
  views: Readonly<Record<BannedText['place'], string>>,
): readonly string[] {
  if (isAllowedIn?.(path) === true) return [];
  return views[place].split('\n').flatMap((line, index) => {
    const found = pattern.exec(line)?.[0];
    return found === undefined ? [] : [`${path}:${index + 1} must not hold "${found.trim()}"`];
  });
}

function longFunctions(path: string, text: string): readonly string[] {
  const closureMax = longClosures[path] ?? closureLinesMax;
  return functionsOf(text, path.endsWith('.tsx')).flatMap(({ line, kind, lines, total }) => {
    const place = `${path}:${line} starts a ${kind}`;
    if (kind === 'function' && lines > functionLinesMax) {
      return [`${place} of ${lines} lines, at most ${functionLinesMax}`];
    }
    if (total <= closureMax) return [];
    return [`${place} of ${total} lines with what is inside, at most ${closureMax}`];
  });
}

/** One sentence for each name on the path that is not a noun in kebab-case. */
export function checkName(path: string): readonly string[] {
  const file = path.split('/').at(-1) ?? '';
  if (givenNames.has(file)) return [];
  const strange = path.split('/').filter((part) => !kebabCase.test(part.replace(/^\./, '')));
  const empty = emptyWords.test(file) ? [`${path} is named after nothing in particular`] : [];
  return [...strange.map((part) => `${path}: "${part}" is not kebab-case`), ...empty];
}

/** A document starts with its title. */
export function checkDocument({ path, text }: SourceFile): readonly string[] {
  return /^# \S/.test(text) ? [] : [`${path} does not start with a title`];
}
