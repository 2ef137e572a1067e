import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { builtDashboard } from './built-dashboard.ts';

/** What a phone with little signal can be asked to load before anything shows. */
const scriptBytesMax = 38 * 1_024;
const styleBytesMax = 20 * 1_024;

test('the first load brings no more script and style than was promised', async () => {
  const { folder } = await builtDashboard();
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const found = [...page.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(([, path]) => path ?? '');
  const scripts = [...new Set(found)];
  const styles = [...page.matchAll(/href="(\/[^"]+\.css)"/g)].map(([, path]) => path ?? '');
  assert.ok(scripts.length > 0 && styles.length > 0, page);
  const bytes = (paths: readonly string[]): number =>
    paths.reduce((sum, path) => sum + gzipSync(readFileSync(join(folder, path))).length, 0);
  const all = bytes(scripts) + gzipSync(page).length;
  assert.ok(all <= scriptBytesMax, `${all} bytes of script`);
  assert.ok(bytes(styles) <= styleBytesMax, `${bytes(styles)} bytes of style`);
});
