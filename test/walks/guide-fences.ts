import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../source-files.ts';

/** Whether a program is installed. */
export const isThere = (name: string, ...words: readonly string[]): boolean =>
  spawnSync(name, words.length === 0 ? ['--version'] : words).status === 0;

/** The fences of a language in a guide, without the indent of the step that they stand in. */
export function fences(guide: string, language: string): readonly string[] {
  const text = readFileSync(join(repositoryRoot, 'docs/guides', `${guide}.md`), 'utf8');
  const pattern = new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'gm');
  const found = [...text.matchAll(pattern)].map(([, indent = '', lines = '']) =>
    lines.replace(new RegExp(`^${indent}`, 'gm'), ''),
  );
  assert.ok(found.length > 0, `${guide} has no ${language}`);
  return found;
}
