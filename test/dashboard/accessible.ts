import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Asserts that axe finds nothing grave on a page. */
export async function assertAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate('globalThis.axe !== undefined'))) await page.evaluate(axe.source);
  const options = JSON.stringify({ resultTypes: ['violations'] });
  const found = (await page.evaluate(
    `axe.run(${options}).then(({ violations }) => violations)`,
  )) as readonly { readonly id: string; readonly impact: string | null }[];
  const grave = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(
    grave.map(({ id }) => id),
    [],
  );
}
