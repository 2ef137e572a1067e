import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../../../test/manual-clock.ts';
import { silentLog } from '../../../lib/log.ts';
import type { Retaining } from './retaining.ts';
import type { RetentionStore } from './retention.ts';
import { createRetentionRunner } from './retention-runner.ts';

const second = 1_000;

test('whoever sets retentions all the time has passes made for a part of it alone', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const clock = createManualClock(0);
  let passes = 0;
  const runner = createRetentionRunner({
    store: {
      isAnySet: async () => true,
      // A pass through all sensors takes ten seconds here.
      async sensors() {
        passes += 1;
        clock.advance(10 * second);
        return [];
      },
    } as never as RetentionStore,
    retaining: {} as Retaining,
    pushedDatapoints: { count: async () => 0 },
    reporter: { retentionStepped: () => undefined, retentionRoundEnded: () => undefined },
    ofService: {},
    ...{ clock, log: silentLog },
  });
  /** Lets the timer check the clock; a pass that begins is over when this resolves. */
  const look = async (): Promise<void> => {
    t.mock.timers.tick(250);
    await new Promise((resolve) => setImmediate(resolve));
  };
  runner.start();
  const startedAt = clock.now();
  while (clock.now() - startedAt < 1_000 * second) {
    runner.soon();
    clock.advance(second);
    await look();
  }
  await runner.stop();
  // Ten seconds of every fifty, and not ten of every sixteen.
  assert.ok(passes >= 15 && passes <= 21, `${passes} passes`);
});
