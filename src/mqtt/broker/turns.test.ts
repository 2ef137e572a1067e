import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { payerAt } from '../../domain/budgets/payer.ts';
import { createSlices } from './turns.ts';

test('what is added for a payer while a piece of his work is done has its turn too', async () => {
  const [ann, ben] = [payerAt('192.0.2.1'), payerAt('192.0.2.2')];
  const done: string[] = [];
  const turns = createSlices<string>((item) => {
    done.push(item);
    // As connections do that wait again while they are read from.
    if (item !== 'other' && done.length <= 4) turns.add(ann, item);
    return false;
  });
  for (const item of ['a', 'b', 'c']) turns.add(ann, item);
  turns.add(ben, 'other');
  for (let count = 0; count < 5; count += 1) await setImmediate();
  const again = done.filter((item) => item !== 'other').length;
  assert.deepEqual([new Set(done).size, again, done.length - again], [4, 6, 1]);
});
