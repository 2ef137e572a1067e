import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const root = resolve(dirname(import.meta.filename), '..');

/** The licences of the packages that these files of a build come from, as those ask for. */
export function licencesOf(files: readonly string[]): string {
  const folders = new Set(
    files.flatMap((path) => /(?:^|.*\/)(node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  );
  const texts = [...folders].sort().map((folder) => {
    const name = folder.slice('node_modules/'.length);
    const file = readdirSync(join(root, folder)).find((found) => /^licen[cs]e/i.test(found));
    const text = file === undefined ? '' : readFileSync(join(root, folder, file), 'utf8');
    return `${name}\n\n${text}`;
  });
  return texts.join('\n----\n\n');
}
