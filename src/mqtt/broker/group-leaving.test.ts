import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPeer } from '../../../test/mqtt/memory-peer.ts';
import { testBroker } from '../../../test/mqtt/test-broker.ts';
import type { Message } from '../../domain/messaging/message.ts';

const message: Message = { topic: 't', payload: Buffer.from('x'), qos: 1, retain: false };

/** The only member of a group, with more filters than are forgotten at once when it leaves. */
async function onlyMember() {
  const { broker } = await testBroker();
  const peer = await connectPeer(broker, { clientId: 'a' });
  const filters = Array.from({ length: 100 }, (_, at) => `f/${at}`);
  const subscriptions = [...filters, '$share/g/t'].map((topic) => ({ topic, qos: 1 as const }));
  peer.send({ cmd: 'subscribe', messageId: 1, subscriptions });
  await peer.takeAll(1);
  return { broker, peer };
}

test('the only member of a group leaves without acknowledging its message', async () => {
  const { broker, peer } = await onlyMember();
  broker.deliver([message]);
  assert.deepEqual(
    (await peer.take()).map(({ cmd }) => cmd),
    ['publish'],
  );
  peer.drop();
  assert.equal(broker.metrics().sessions, 0);
});

test('a message for a group comes while its only member is being forgotten', async () => {
  const { broker, peer } = await onlyMember();
  peer.drop();
  broker.deliver([message]);
  assert.equal(broker.metrics().sessions, 0);
});
