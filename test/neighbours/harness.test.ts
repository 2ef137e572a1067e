import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedMsMax, startNeighbourhood } from './neighbours.ts';

test('without any attack the honest client is served, also after kill -9', async () => {
  await using neighbourhood = await startNeighbourhood();
  await neighbourhood.attack(async () => undefined);
  await neighbourhood.restart('SIGKILL');
  await neighbourhood.restart();
});

test('a service that stands still is noticed', async () => {
  await using neighbourhood = await startNeighbourhood();
  await neighbourhood.attack(async () => undefined);
  const standstill = async (): Promise<void> => {
    process.kill(neighbourhood.process.pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, servedMsMax + 1_500));
    process.kill(neighbourhood.process.pid, 'SIGCONT');
  };
  await assert.rejects(neighbourhood.attack(standstill), /the honest client's \w+ took/);
});
