import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { buildDashboard, type DashboardSize } from '../../scripts/build-dashboard.ts';

const root = resolve(import.meta.dirname, '../..');
const cache = join(root, 'node_modules', '.cache', 'kipimo-dashboard');
const keptMs = 86_400_000;
const sizeFile = 'size.json';

export interface BuiltDashboard extends DashboardSize {
  readonly folder: string;
}

/** The web app as it is shipped, built from the sources as they are now; once for all tests. */
export async function builtDashboard(): Promise<BuiltDashboard> {
  const folder = join(cache, sourceKey());
  if (!existsSync(folder)) await buildInto(folder);
  // Written beside the files by the build below.
  const size = JSON.parse(readFileSync(join(folder, sizeFile), 'utf8')) as DashboardSize;
  return { folder, ...size };
}

/** Another text, another key: a stale build is never found. */
function sourceKey(): string {
  const hash = createHash('sha256');
  const patterns = ['dashboard/**/*', 'scripts/{build-dashboard,screen-files,world-*}.ts'];
  const paths = [...patterns, 'package-lock.json'].flatMap((one) => globSync(one, { cwd: root }));
  for (const path of paths.sort()) {
    const isFile = statSync(join(root, path)).isFile();
    if (!isFile || path.endsWith('.test.ts') || path.endsWith('.md')) continue;
    hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  }
  return hash.digest('hex').slice(0, 24);
}

/** Elsewhere first: a test process beside this one may be building the same. */
async function buildInto(folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  removeOld();
  const draft = mkdtempSync(join(cache, 'draft-'));
  const size = await buildDashboard({ out: draft });
  writeFileSync(join(draft, sizeFile), JSON.stringify(size));
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function removeOld(): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    const age = Date.now() - statSync(path).mtimeMs;
    if (age > keptMs) rmSync(path, { recursive: true, force: true });
  }
}
