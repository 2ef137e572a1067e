import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { refusalOf } from './sensor-endpoint.ts';

let service: Service;

before(async () => {
  service = await startService({ environment: { KIPIMO_BUDGETS: 'connections=5000' } });
});

after(() => service[Symbol.asyncDispose]());

test('an administrator sees what is used of every budget, and nobody else does', async () => {
  for (const stranger of [service.as('guest'), service.as('ama')]) {
    refusalOf(await stranger({ path: '/admin/usage' }), 403, 'forbidden');
  }
  const reply = await service.as('admin')({ path: '/admin/usage' });
  assert.equal(reply.status, 200, reply.text);
  const budgets = reply.json as { name: string; total: number; largest: unknown[] }[];
  const connections = budgets.find(({ name }) => name === 'connections');
  assert.equal(connections?.total, 5_000);
  assert.ok(Array.isArray(connections?.largest));
});

test('an administrator sees how the service is, and nobody else does', async () => {
  for (const stranger of [service.as('guest'), service.as('ama')]) {
    refusalOf(await stranger({ path: '/admin/service' }), 403, 'forbidden');
  }
  const reply = await service.as('admin')({ path: '/admin/service' });
  assert.equal(reply.status, 200, reply.text);
  const state = reply.json as Record<string, unknown>;
  assert.match(String(state['version']), /^\d+\.\d+\.\d+/);
  assert.equal(state['signup'], 'open');
  assert.deepEqual(state['restart_needed'], []);
  assert.deepEqual(state['failed_messages'], []);
  assert.equal(state['last_backup_at'], undefined);
});

test('the metrics show every budget', async () => {
  const { text } = await service.as('admin')({ path: '//metrics' });
  assert.match(text, /kipimo_budget_size\{budget="connections",unit="entries"\} 5000/);
  assert.match(text, /kipimo_budget_used\{budget="partial_bytes",unit="bytes",by="guests"\} \d/);
  assert.match(text, /kipimo_budget_refusals_total\{budget="partial_bytes"\} 0/);
});
