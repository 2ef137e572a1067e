import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startService } from '../service.ts';

const readme = new URL('../../README.md', import.meta.url);
const printedAddress = 'http://localhost:8080';
const block = /<!-- walk:begin -->\s*```bash\n([\s\S]*?)```\s*<!-- walk:end -->/;

// Around the reader's commands: the status of each answer goes to standard error.
const watchStatuses = `set -eu
curl() { command curl --write-out '%{stderr}%{http_code}\\n' "$@"; }
`;

function readWalk(): string {
  const found = block.exec(readFileSync(readme, 'utf8'))?.[1];
  assert.ok(found !== undefined, 'README.md has no bash block between its walk markers');
  return found;
}

/** The JSON arrays among the answers, in their order. */
function arraysIn(output: string): readonly (readonly Readonly<Record<string, unknown>>[])[] {
  return (output.match(/\[\{.*?\}\]/gs) ?? []).map((text) => JSON.parse(text));
}

test('the commands of the README can be pasted and do what they say', async () => {
  const walk = readWalk();
  assert.ok(
    (walk.match(/\bcurl\b/g) ?? []).length >= 5,
    'the walk has at least five curl commands',
  );
  assert.ok(walk.includes(printedAddress), `the walk talks to ${printedAddress}`);
  await using service = await startService();
  const script = watchStatuses + walk.replaceAll(printedAddress, service.url);
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], {
    timeout: 30_000,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
  });

  const statuses: readonly string[] = stderr.match(/^\d{3}$/gm) ?? [];
  assert.deepEqual(
    statuses.filter((status) => !['200', '204', '403'].includes(status)),
    [],
    stderr + stdout,
  );
  assert.equal(statuses.filter((status) => status === '403').length, 1, 'before it is shared');
  assert.ok(statuses.indexOf('403') < statuses.lastIndexOf('200'), 'and it is read afterwards');

  const reads = arraysIn(stdout);
  assert.equal(reads.length, 2, `two reads answer datapoints: ${stdout}`);
  assert.deepEqual(reads[0], reads[1], 'both people see the same');
  const [datapoint] = reads[0] ?? [];
  assert.equal(typeof datapoint?.['value'], 'number');
  assert.match(String(datapoint?.['timestamp']), /^\d{4}-\d\d-\d\dT/);
  assert.match(stdout, /"error":"forbidden"/);
  const device = String(datapoint?.['device_id']);
  assert.equal((await service.call({ path: `/devices/${device}` })).status, 403, 'it is private');
});
