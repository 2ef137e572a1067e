import { stripTypeScriptTypes } from 'node:module';

/** Two views of a source text, each as long as it and with the same lines. */
export interface CodeText {
  /** Comments are blank. */
  readonly withoutComments: string;
  /** Comments, and what stands in strings, templates and regular expressions, are blank. */
  readonly bare: string;
}

const quotes = new Set(["'", '"']);
/** After these a slash opens a regular expression; after a value it divides. */
const beforeRegExp = /(^|[([{};,=:!&|?+\-*%<>~^]|\b(return|typeof|case|in|of|do|else|void|throw))$/;

/** Blanks comments, and texts, of JavaScript or TypeScript. */
export function readCode(text: string): CodeText {
  const kept = text.split('');
  const bare = text.split('');
  const blank = (target: string[], from: number, to: number): void => {
    for (let at = from; at < to; at += 1) if (target[at] !== '\n') target[at] = ' ';
  };
  // For each template that is open: how many braces are open within its current ${}.
  const templates: number[] = [];
  let at = 0;
  let code = '';
  while (at < text.length) {
    const char = text[at] ?? '';
    const pair = text.slice(at, at + 2);
    if (pair === '//' || pair === '/*') {
      const end = endOfComment(text, at);
      blank(kept, at, end);
      blank(bare, at, end);
      at = end;
    } else if (quotes.has(char) || (char === '/' && opensRegExp(text, at, code))) {
      const end = char === '/' ? endOfRegExp(text, at) : endOfString(text, at);
      blank(bare, at + 1, end - 1);
      code = `${code.slice(-12)}"`;
      at = end;
    } else if (char === '`' || (char === '}' && templates.at(-1) === 0)) {
      if (char === '}') templates.pop();
      const { end, isOpen } = endOfTemplateText(text, at + 1);
      blank(bare, at, end);
      if (isOpen) templates.push(0);
      code = isOpen ? '(' : '"';
      at = end;
    } else {
      const depth = templates.at(-1);
      if (depth !== undefined && char === '{') templates[templates.length - 1] = depth + 1;
      if (depth !== undefined && char === '}') templates[templates.length - 1] = depth - 1;
      if (char.trim() !== '') code = code.slice(-12) + char;
      else if (/\w$/.test(code)) code = code.replace(/^.*?(\w*)$/, '$1');
      at += 1;
    }
  }
  return { withoutComments: kept.join(''), bare: bare.join('') };
}

/** A tag that closes, `</p>`, is none. */
function opensRegExp(text: string, at: number, code: string): boolean {
  return text[at - 1] !== '<' && beforeRegExp.test(code);
}

function endOfComment(text: string, start: number): number {
  const isLine = text[start + 1] === '/';
  const end = text.indexOf(isLine ? '\n' : '*/', start + 2);
  if (end === -1) return text.length;
  return isLine ? end : end + 2;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== text[start]) at += text[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, text.length);
}

function endOfRegExp(text: string, start: number): number {
  let at = start + 1;
  let isClass = false;
  while (at < text.length && text[at] !== '\n' && (isClass || text[at] !== '/')) {
    if (text[at] === '[') isClass = true;
    if (text[at] === ']') isClass = false;
    at += text[at] === '\\' ? 2 : 1;
  }
  return Math.min(at + 1, text.length);
}

function endOfTemplateText(text: string, start: number): { end: number; isOpen: boolean } {
  let at = start;
  while (at < text.length) {
    if (text[at] === '`') return { end: at + 1, isOpen: false };
    if (text.startsWith('${', at)) return { end: at + 2, isOpen: true };
    at += text[at] === '\\' ? 2 : 1;
  }
  return { end: text.length, isOpen: false };
}

export interface FoundImport {
  readonly name: string;
  /** static: loaded with the file; type: gone when it runs; lazy: loaded when it is called for. */
  readonly kind: 'static' | 'type' | 'lazy';
}

/** Every module a file names, re-exported ones included. */
export function importsOf(text: string): readonly FoundImport[] {
  const { withoutComments, bare } = readCode(text);
  const found: FoundImport[] = [];
  for (const match of bare.matchAll(/\b(?:from|import(?:\s*\()?)\s*(['"])/g)) {
    const start = match.index + match[0].length;
    const end = bare.indexOf(match[1] ?? "'", start);
    const statement =
      bare
        .slice(0, match.index)
        .split(/;|\n\s*(?=import|export)/)
        .at(-1) ?? '';
    const isType = /^\s*(?:import|export)\s+type\b/.test(statement);
    const kind = match[0].includes('(') ? 'lazy' : isType ? 'type' : 'static';
    found.push({ name: withoutComments.slice(start, end), kind });
  }
  return found;
}

/** A function or class of a file: where it starts and how long it is. */
export interface FunctionSize {
  readonly line: number;
  readonly kind: 'function' | 'class';
  /** Lines from brace to brace, without those of the functions inside. */
  readonly lines: number;
  /** Lines from brace to brace. */
  readonly total: number;
}

const controlWords = new Set(['if', 'for', 'while', 'switch', 'catch', 'with', 'await']);

/**
 * The functions, methods, classes and arrow functions with a block that a file holds. Node takes
 * the types off, but knows no JSX: there, what a function answers is read over.
 */
export function functionsOf(text: string, isJsx = false): readonly FunctionSize[] {
  const { bare } = readCode(isJsx ? text : stripTypeScriptTypes(text));
  const open: { line: number; kind: ReturnType<typeof kindOf>; inner: number }[] = [];
  const found: FunctionSize[] = [];
  let line = 1;
  for (let at = 0; at < bare.length; at += 1) {
    if (bare[at] === '\n') line += 1;
    if (bare[at] === '{') open.push({ line, kind: kindOf(bare, at), inner: 0 });
    if (bare[at] !== '}') continue;
    const block = open.pop();
    const outer = open.at(-1);
    if (block === undefined) continue;
    const total = line - block.line + 1;
    const { kind } = block;
    if (kind !== 'block') found.push({ line: block.line, kind, lines: total - block.inner, total });
    // The line of either brace is shared with the function around it.
    if (outer !== undefined) outer.inner += kind === 'block' ? block.inner : Math.max(0, total - 2);
  }
  return found;
}

const answerType = /\)\s*:\s*[\w.<>[\]| ,]+\s*$/;

/** What a brace opens. */
function kindOf(bare: string, brace: number): FunctionSize['kind'] | 'block' {
  const before = bare
    .slice(Math.max(0, brace - 2_000), brace)
    .replace(answerType, ')')
    .trimEnd();
  if (/\bclass [^{};]*$/.test(before)) return 'class';
  if (before.endsWith('=>')) return 'function';
  if (!before.endsWith(')')) return 'block';
  let depth = 0;
  for (let at = before.length - 1; at >= 0; at -= 1) {
    if (before[at] === ')') depth += 1;
    if (before[at] === '(') depth -= 1;
    if (depth === 0) {
      const word = /([\w$]+)\s*$/.exec(before.slice(Math.max(0, at - 60), at))?.[1];
      return word === undefined || !controlWords.has(word) ? 'function' : 'block';
    }
  }
  return 'block';
}
