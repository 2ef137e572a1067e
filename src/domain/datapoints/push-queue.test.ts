import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payerOfAccount } from '../budgets/budget.ts';
import type { DeviceId } from '../ids.ts';
import { createPushQueue } from './ingest.ts';

const [ama, kofi] = [payerOfAccount('ama'), payerOfAccount('kofi')];
const device = 'd' as DeviceId;

/** Pushes that are handed over when their lookups end, which a test decides. */
function createStage() {
  const line = createPushQueue();
  const handedOver: string[] = [];
  const lookups = new Map<string, PromiseWithResolvers<boolean>>();
  const add = (name: string, payer = ama): Promise<void> => {
    const looked = Promise.withResolvers<boolean>();
    lookups.set(name, looked);
    return line.add(payer, device, async (turn) => {
      if (!(await looked.promise)) return undefined;
      await turn;
      handedOver.push(name);
      return { isStored: Promise.resolve() };
    });
  };
  const settle = async (name: string, outcome: boolean | Error): Promise<void> => {
    if (outcome instanceof Error) lookups.get(name)?.reject(outcome);
    else lookups.get(name)?.resolve(outcome);
    await new Promise(setImmediate);
  };
  return { line, handedOver, add, settle };
}

test('no push overtakes another of its payer and device', async () => {
  const { line, handedOver, add, settle } = createStage();
  const all = [add('1'), add('2'), add('3')];
  await settle('3', true);
  await settle('2', true);
  assert.deepEqual(handedOver, []);
  assert.equal(line.has(ama, device), true);
  await settle('1', true);
  await Promise.all(all);
  assert.deepEqual(handedOver, ['1', '2', '3']);
  assert.equal(line.isEmpty(), true);
});

test('one that is refused lets those behind it go on, and not before those in front', async () => {
  const { line, handedOver, add, settle } = createStage();
  const first = add('1');
  const refused = assert.rejects(add('2'), /forbidden/);
  const [third, nothing] = [add('3'), add('4')];
  await settle('2', new Error('forbidden'));
  await settle('4', false);
  await settle('3', true);
  assert.deepEqual(handedOver, []);
  await settle('1', true);
  await Promise.all([first, refused, third, nothing]);
  assert.deepEqual(handedOver, ['1', '3']);
  assert.equal(line.isEmpty(), true);
});

test('others wait for nothing', async () => {
  const { handedOver, add, settle } = createStage();
  const [mine, theirs] = [add('mine'), add('theirs', kofi)];
  await settle('theirs', true);
  await theirs;
  assert.deepEqual(handedOver, ['theirs']);
  await settle('mine', true);
  await mine;
});
