import { join } from 'node:path';
import { build, stop } from 'esbuild-wasm';

const entry = join(import.meta.dirname, '../src/storage/sqlite/writer-thread.ts');

/**
 * Packs the writer thread of SQLite, as its sources are now, into one file. A run of tests opens
 * hundreds of databases, each of which starts that thread, and loading its ninety modules is a
 * third of what that takes. Stacks name places in this file; a test file that runs alone has the
 * sources.
 */
export async function packWriter(file: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
  });
  await stop();
}
