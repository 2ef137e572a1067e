import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { longestPause } from './gauge.ts';
import { emptyHistory, type Sent } from './history.ts';
import { configurationFor } from './patroni-config.ts';
import { isOlder } from './patroni-servers.ts';

const place = {
  ...{ name: 'db2', directory: '/nowhere' },
  ...{ port: 1, apiPort: 2, linkPort: 3, etcdPort: 4 },
};

interface Configuration {
  readonly name: string;
  readonly bootstrap: {
    readonly dcs: Readonly<Record<'ttl' | 'loop_wait' | 'retry_timeout', number>> & {
      readonly synchronous_mode: boolean;
      readonly synchronous_mode_strict: boolean;
    };
  };
  readonly postgresql: { readonly listen: string; readonly connect_address: string };
}

const configuration = (): Configuration => parse(configurationFor(place)) as Configuration;

test('Patroni has two attempts to reach etcd before its primary is replaced', () => {
  const { ttl, loop_wait, retry_timeout } = configuration().bootstrap.dcs;
  assert.ok(loop_wait + 2 * retry_timeout <= ttl);
  assert.ok(ttl >= 20 && retry_timeout >= 3, 'less than Patroni takes');
});

test('a server of the suite has the synchronous standby of the file, and links of its own', () => {
  const { name, bootstrap, postgresql } = configuration();
  assert.equal(bootstrap.dcs.synchronous_mode, true);
  assert.equal(bootstrap.dcs.synchronous_mode_strict, true);
  assert.equal(name, 'db2');
  assert.equal(postgresql.listen, '127.0.0.1:1');
  assert.equal(postgresql.connect_address, '127.0.0.1:3');
});

test('versions of Patroni are compared by their numbers', () => {
  assert.ok(isOlder('3.0.2', '3.0.3') && isOlder('3.0.2', '3.0.10') && isOlder('3.0.2', '4.0.0'));
  assert.ok(!isOlder('3.0.3', '3.0.3') && !isOlder('4.0.7', '3.0.3'));
});

test('the longest pause reaches to the end, and is none of before', () => {
  const history = emptyHistory();
  const acknowledgedAt = (answeredAt: number): Sent => ({
    ...{ by: 'gauge', sensor: 'G0', mark: `${answeredAt}`, place: 0, isTimed: true },
    ...{ sentAt: 0, sends: 1, outcome: 'acknowledged', answeredAt },
  });
  history.sent.push(...[0, 100, 110, 150, 155].map(acknowledgedAt));
  const pause = (from: number, until: number): number =>
    longestPause(history, { sensor: 'G0', from, until });
  assert.equal(pause(105, 155), 40);
  assert.equal(pause(50, 115), 100, 'one that had begun');
  assert.equal(pause(105, 200), 45);
});
