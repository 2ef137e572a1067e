import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Feed, FeedEvent } from '../../../src/domain/datapoints/feed.ts';
import type { ActuatorId, DeviceId, SensorId } from '../../../src/domain/ids.ts';
import { type Log, silentLog } from '../../../src/lib/log.ts';

/** Opens a feed without listeners that logs to `log`. */
export type OpenFeed = (options: { readonly log: Log }) => Feed;

const deviceId = 'd' as DeviceId;

function aPush(value: number): FeedEvent {
  const sensorId = 's' as SensorId;
  return { kind: 'datapoints', deviceId, sensorId, datapoints: [{ value, receivedAt: 0 }] };
}

const aChange: FeedEvent = {
  kind: 'actuator',
  deviceId,
  actuatorId: 'a' as ActuatorId,
  value: null,
};

/** What every feed promises. */
export function feedContract(openFeed: OpenFeed): void {
  test('every listener gets what is published after it came, in order', () => {
    const feed = openFeed({ log: silentLog });
    const early: FeedEvent[] = [];
    const late: FeedEvent[] = [];
    feed.publish([aPush(0)]);
    feed.subscribe((events) => early.push(...events));
    feed.publish([aPush(1), aChange]);
    feed.subscribe((events) => late.push(...events));
    feed.publish([aPush(2)]);
    assert.deepEqual(early, [aPush(1), aChange, aPush(2)]);
    assert.deepEqual(late, [aPush(2)]);
  });

  test('a listener that ended hears no more, and the others go on', () => {
    const feed = openFeed({ log: silentLog });
    const heard: string[] = [];
    const listener = () => heard.push('twice');
    const endFirst = feed.subscribe(listener);
    feed.subscribe(listener);
    const endItself = feed.subscribe(() => {
      heard.push('once');
      endItself();
    });
    feed.subscribe(() => heard.push('last'));
    feed.publish([aChange]);
    assert.deepEqual(heard, ['twice', 'twice', 'once', 'last']);
    endFirst();
    endFirst();
    feed.publish([aChange]);
    assert.deepEqual(heard.slice(4), ['twice', 'last']);
  });

  test('a listener that throws is logged and harms neither others nor who publishes', () => {
    const logged: string[] = [];
    const log: Log = { ...silentLog, error: (_fields, message) => logged.push(message) };
    const feed = openFeed({ log });
    const heard: FeedEvent[] = [];
    feed.subscribe(() => {
      throw new Error('a bug of a listener');
    });
    feed.subscribe((events) => heard.push(...events));
    feed.publish([aChange]);
    assert.deepEqual(heard, [aChange]);
    assert.deepEqual(logged, ['a listener of the feed failed']);
  });
}
