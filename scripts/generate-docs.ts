// Writes every generated file; "npm run check" fails while one differs from the source.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { absolutePath, generatedFiles } from './generated-files.ts';

for (const file of generatedFiles) {
  const path = absolutePath(file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, await file.content());
  console.log(`wrote ${file.path}`);
}
