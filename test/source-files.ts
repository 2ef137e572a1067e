import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** A file of the repository; `path` is relative to its root, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The root of the repository. */
export const repositoryRoot = resolve(dirname(import.meta.filename), '..');

const foreign: ReadonlySet<string> = new Set(['node_modules', 'dist', 'data', '.scratch', '.git']);

/** The files of a directory that the patterns find, without installed and built ones. */
export function readSourceFiles(
  patterns: readonly string[],
  root: string = repositoryRoot,
): readonly SourceFile[] {
  const exclude = (path: string): boolean => foreign.has(path.split('/').at(-1) ?? '');
  const paths = patterns.flatMap((pattern) => globSync(pattern, { cwd: root, exclude }));
  return [...new Set(paths)].sort().map((path) => ({
    path: path.replaceAll('\\', '/'),
    text: readFileSync(join(root, path), 'utf8'),
  }));
}
