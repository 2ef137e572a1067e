import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { createManualClock } from '../../test/manual-clock.ts';
import { waitForStopSignal } from './stop-signal.ts';

function setUp() {
  const signals = new EventEmitter();
  const clock = createManualClock(0);
  const impatience: number[] = [];
  const stopped = waitForStopSignal({
    signals,
    clock,
    onImpatience: () => impatience.push(clock.now()),
  });
  return { signals, clock, impatience, stopped };
}

test('the first signal is told by its name', async () => {
  const { signals, stopped, impatience } = setUp();
  signals.emit('SIGTERM');
  assert.equal(await stopped, 'SIGTERM');
  assert.deepEqual(impatience, []);
});

test('a second signal is impatience, of whatever kind', async () => {
  const { signals, clock, stopped, impatience } = setUp();
  signals.emit('SIGINT');
  clock.advance(1_000);
  signals.emit('SIGTERM');
  assert.equal(await stopped, 'SIGINT');
  assert.deepEqual(impatience, [1_000]);
});

test('the echo of a Ctrl-C that npm passes on is not a second signal', () => {
  const { signals, clock, impatience } = setUp();
  signals.emit('SIGINT');
  signals.emit('SIGINT');
  clock.advance(999);
  signals.emit('SIGINT');
  assert.deepEqual(impatience, []);
});
