import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../test/service.ts';

test('a part that cannot be ended leaves none of the others open', async () => {
  const ended: string[] = [];
  const service = await startService({
    wrapStorage: (storage) => ({
      ...storage,
      failures: { ...storage.failures, save: () => Promise.reject(new Error('the disk is full')) },
      async close() {
        await storage.close();
        ended.push('engine');
      },
    }),
  });
  const login = { username: 'nobody', password: 'wrong-password' };
  await service.call({ method: 'POST', path: '/auth/token', json: login });
  await assert.rejects(service.app.close(), /the disk is full/);
  assert.deepEqual(ended, ['engine']);
});
