import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { BudgetUsage } from '../domain/budgets/budgets.ts';
import type { StorageQuotas } from '../domain/budgets/storage-quotas.ts';
import type { MemberFigures } from '../domain/members/member-store.ts';
import type { MqttMetrics } from '../domain/metrics.ts';
import type { Meters } from './reporter.ts';

const mqttGauges = {
  connections: ['kipimo_mqtt_connections', 'MQTT connections now.'],
  sessions: ['kipimo_mqtt_sessions', 'MQTT sessions now, those without a connection included.'],
  subscriptions: ['kipimo_mqtt_subscriptions', 'MQTT subscriptions now.'],
  retained: ['kipimo_mqtt_retained_messages', 'Retained MQTT messages now.'],
  queuedMessages: ['kipimo_mqtt_queued_messages', 'Messages that wait for MQTT sessions.'],
  queuedBytes: ['kipimo_mqtt_queued_bytes', 'Bytes that wait for MQTT sessions.'],
} as const;

const mqttCounters = {
  messagesReceived: ['kipimo_mqtt_messages_received_total', 'Messages that MQTT clients sent.'],
  messagesSent: ['kipimo_mqtt_messages_sent_total', 'Messages that MQTT clients were sent.'],
  bytesReceived: ['kipimo_mqtt_bytes_received_total', 'Bytes that MQTT clients sent.'],
  bytesSent: ['kipimo_mqtt_bytes_sent_total', 'Bytes that MQTT clients were sent.'],
} as const;

/** Shows what the broker counts. */
export function addMqttMetrics({ watched, watchedFields }: Meters, read: () => MqttMetrics): void {
  watchedFields('gauge', mqttGauges, read);
  watchedFields('count', mqttCounters, read);
  watched(
    'count',
    'kipimo_mqtt_messages_dropped_total',
    { help: 'Messages that did not reach an MQTT session, by reason.', labels: ['reason'] },
    () => Object.entries(read().dropped).map(([reason, count]) => [count, { reason }]),
  );
  watched(
    'count',
    'kipimo_mqtt_connections_closed_total',
    { help: 'MQTT connections that the service ended, by MQTT 5 reason code.', labels: ['code'] },
    () => [...read().closedByCode].map(([code, count]) => [count, { code: String(code) }]),
  );
}

const memberGauges = {
  serving: ['kipimo_members', 'Processes that serve the database, this one included.'],
  unheardSeconds: ['kipimo_members_unheard_seconds', 'Since others were last read to the end.'],
  deferred: ['kipimo_members_deferred', 'Events that wait for older ones of other processes.'],
  lockWaitSeconds: ['kipimo_members_lock_wait_seconds', 'Waits for the lock of all, in sum.'],
  lossySettings: ['kipimo_database_lossy_settings', 'Settings that lose values; see the log.'],
  connections: ['kipimo_database_connections', 'Connections of this process to the database.'],
  clockOffsetSeconds: [
    'kipimo_database_clock_offset_seconds',
    'Its clock, which holds, ahead of ours.',
  ],
} as const;

/** Shows what a process shares with others on one database. */
export const addMemberMetrics = ({ watchedFields }: Meters, read: () => MemberFigures): void =>
  watchedFields('gauge', memberGauges, read);

/** Adds what is used of each budget, and how often one was full; read when they are asked for. */
export function addBudgetMetrics({ watched }: Meters, read: () => readonly BudgetUsage[]): void {
  watched(
    'gauge',
    'kipimo_budget_used',
    {
      help: 'What is used of a budget, in its unit, by everybody and by guests.',
      labels: ['budget', 'unit', 'by'],
    },
    () =>
      read().flatMap(({ name: budget, unit, used, guests }) => [
        [used, { budget, unit, by: 'all' }],
        [guests, { budget, unit, by: 'guests' }],
      ]),
  );
  watched(
    'gauge',
    'kipimo_budget_size',
    { help: 'The room of a budget, in its unit.', labels: ['budget', 'unit'] },
    () => read().map(({ name: budget, unit, total }) => [total, { budget, unit }]),
  );
  watched(
    'count',
    'kipimo_budget_refusals_total',
    { help: 'How often a budget had no room, since the start.', labels: ['budget'] },
    () => read().map(({ name: budget, refusals }) => [refusals, { budget }]),
  );
}

export type StorageMetrics = ReturnType<StorageQuotas['metrics']>;

/** Adds what is stored, as quotas count it, and how often storage was refused. */
export function addStorageMetrics({ watched }: Meters, read: () => StorageMetrics): void {
  watched(
    'gauge',
    'kipimo_stored_bytes',
    {
      help:
        'What is stored, as quotas count it: of all, and of it what belongs to the guest, what ' +
        'accounts have that signed themselves up, and what strangers pushed to public devices.',
      labels: ['owner'],
    },
    () => [
      [read().total, { owner: 'all' }],
      [read().guests, { owner: 'guest' }],
      [read().signUps, { owner: 'sign_ups' }],
      [read().strangers, { owner: 'strangers' }],
    ],
  );
  watched(
    'gauge',
    'kipimo_storage_refusals',
    { help: 'How often something was refused since the start for a quota or a nearly full disk.' },
    () => [[read().refusals]],
  );
}

const resolutionMs = 20;
const nanosecondsPerSecond = 1e9;
/** Values are of the last one to two of these. */
const windowMs = 30_000;

/** Adds how long the event loop was blocked; costs one reading of the clock every 20 ms. */
export function addEventLoopMetrics({ watched }: Meters): void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  let since = performance.now();
  let before = { longest: 0, high: 0 };

  function heldSeconds(): typeof before {
    // The delay counts from the reading before, which was due a resolution earlier.
    const held = (nanoseconds: number) =>
      Math.max(0, nanoseconds / nanosecondsPerSecond - resolutionMs / 1_000);
    if (delays.count === 0) return { longest: 0, high: 0 };
    return { longest: held(delays.max), high: held(delays.percentile(99)) };
  }

  watched(
    'gauge',
    'kipimo_event_loop_held_seconds',
    {
      help: 'How long the event loop was held at a time in the last half minute.',
      labels: ['percentile'],
    },
    () => {
      const now = heldSeconds();
      const longest = Math.max(now.longest, before.longest);
      const high = Math.max(now.high, before.high);
      if (performance.now() - since >= windowMs) {
        since = performance.now();
        before = now;
        delays.reset();
      }
      return [
        [longest, { percentile: '100' }],
        [high, { percentile: '99' }],
      ];
    },
  );
}
