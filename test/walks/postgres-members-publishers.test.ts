// In a process of its own: it starts a database server and several processes that share it.
import { describe, test } from 'node:test';
import { noPostgres, postgresOfTests } from '../postgres-schemas.ts';
import { membersOf } from './member-processes.ts';
import { assertStored, createDevice, createPublisher } from './mqtt-load.ts';

const rounds = 3;

describe('publishers of processes that share a database', { skip: noPostgres }, () => {
  test('QoS 2 that goes on at another process is stored once, whoever is killed', async () => {
    const start = await membersOf(await postgresOfTests(), 'publishers_killed');
    const publishers = Array.from({ length: 8 }, (_, index) =>
      createPublisher(index, { qos: 2, isDated: false }),
    );
    let here = await start();
    await createDevice(here.running.url, publishers);
    for (let round = 0; round < rounds; round += 1) {
      const next = await start();
      const { url } = here.running;
      let exchanges = 0;
      const onExchange = () => {
        exchanges += 1;
        if (exchanges === 60 + 37 * round) here.running.kill('SIGKILL');
      };
      await Promise.all(publishers.map((one) => one.run(url, onExchange)));
      await here[Symbol.asyncDispose]();
      here = next;
      for (const one of publishers) await one.settle(here.running.url);
      for (const one of publishers) await assertStored(here.running.url, one);
    }
    await here[Symbol.asyncDispose]();
  });
});
