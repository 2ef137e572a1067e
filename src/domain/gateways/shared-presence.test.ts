import assert from 'node:assert/strict';
import { test } from 'node:test';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { GatewayId } from '../ids.ts';
import { createSharedPresence } from './presence.ts';

const gateway = 'g' as GatewayId;

/** Processes that receive each other's messages at once. */
function createWorld() {
  const listeners = new Map<number, (text: string) => Promise<void>>();
  return {
    open: (own: number) =>
      createSharedPresence({
        own,
        async tell(text) {
          for (const [member, listener] of listeners) if (member !== own) await listener(text);
        },
        onTold: (listener) => void listeners.set(own, listener),
      }),
  };
}

async function settled(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await yieldToEventLoop();
}

test('a gateway that is connected to one process is so at all, and at late ones', async () => {
  const { open } = createWorld();
  const [one, two] = [open(1), open(2)];
  const leave = one.enter(gateway);
  await settled();
  assert.ok(two.isConnected(gateway));
  const late = open(3);
  late.start();
  await settled();
  assert.ok(late.isConnected(gateway));
  leave();
  await settled();
  assert.deepEqual(
    [one, two, late].map((process) => process.isConnected(gateway)),
    [false, false, false],
  );
});

test('what a process had that ended is not connected any more', async () => {
  const { open } = createWorld();
  const [one, two] = [open(1), open(2)];
  one.enter(gateway);
  await settled();
  two.keep([1, 2]);
  assert.ok(two.isConnected(gateway));
  two.keep([2]);
  assert.equal(two.isConnected(gateway), false);
});
