// Loaded before each test file of a long run: threads that write are started from the one file that
// scripts/pack-writer.ts made of them, which TEST_WRITER names.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const packed = process.env['TEST_WRITER'];
if (!isMainThread && packed !== undefined) {
  const { href } = new URL('../src/storage/sqlite/writer-thread.ts', import.meta.url);
  const url = pathToFileURL(packed).href;
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      return found.url === href ? { ...found, url, format: 'module' } : found;
    },
  });
}
