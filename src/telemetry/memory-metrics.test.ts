import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ThreadMemory } from '../domain/metrics.ts';
import { createMetrics } from './metrics.ts';

async function partsWith(thread: ThreadMemory | undefined): Promise<Map<string, number>> {
  const metrics = createMetrics();
  metrics.watchMemory(async () => thread);
  const text = await metrics.metricsText();
  const lines = text.matchAll(/^kipimo_memory_bytes\{part="(\w+)"\} (\S+)$/gm);
  return new Map([...lines].map(([, part = '', bytes]) => [part, Number(bytes)]));
}

test('the memory of the process is told by part, with the thread that writes', async () => {
  const parts = await partsWith({ heapUsed: 5, heapTotal: 7, external: 3 });
  assert.equal(parts.get('storage_thread_used'), 5);
  assert.equal(parts.get('storage_thread_heap'), 7);
  assert.equal(parts.get('storage_thread_external'), 3);
  for (const part of ['main_young', 'main_old', 'main_heap', 'main_external']) {
    assert.ok((parts.get(part) ?? 0) > 0, part);
  }
  const [heap = 0, old = 0] = [parts.get('main_heap'), parts.get('main_old')];
  assert.ok(old < heap, `${old} of ${heap}`);
});

test('a thread that has ended is left out', async () => {
  const parts = await partsWith(undefined);
  assert.ok(parts.has('main_heap'));
  assert.ok(!parts.has('storage_thread_heap'));
});
