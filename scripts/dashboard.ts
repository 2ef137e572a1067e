// Builds the dashboard alone, quickly, into dist/dashboard: npm run dashboard [-- --watch] [out]
import { watch } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildDashboard, dashboardFolder } from './build-dashboard.ts';

const words = process.argv.slice(2);
const isWatching = words.includes('--watch');
const isQuick = words.includes('--quick') || isWatching;
const given = words.find((word) => !word.startsWith('--'));
const out = given === undefined ? dashboardFolder : resolve(given);

/** One build waits behind the one under way, however many files change meanwhile. */
let isBuilding = false;
let isStale = false;

async function buildOnce(): Promise<void> {
  if (isBuilding) {
    isStale = true;
    return;
  }
  isBuilding = true;
  try {
    const { scriptBytes, styleBytes } = await buildDashboard({ out, isQuick });
    const kib = (bytes: number) => (bytes / 1_024).toFixed(1);
    console.log(`${out}: first load ${kib(scriptBytes)} KiB script, ${kib(styleBytes)} KiB style`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    if (!isWatching) process.exitCode = 1;
  }
  isBuilding = false;
  if (!isStale) return;
  isStale = false;
  await buildOnce();
}

await buildOnce();
if (isWatching) {
  watch(join(import.meta.dirname, '..', 'dashboard'), { recursive: true }, () => void buildOnce());
}
