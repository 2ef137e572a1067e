import type { MqttMetrics } from '../domain/metrics.ts';
import type { Meters } from './meters.ts';

const gauges = {
  connections: ['kipimo_mqtt_connections', 'MQTT connections now.'],
  sessions: ['kipimo_mqtt_sessions', 'MQTT sessions now, those without a connection included.'],
  subscriptions: ['kipimo_mqtt_subscriptions', 'MQTT subscriptions now.'],
  retained: ['kipimo_mqtt_retained_messages', 'Retained MQTT messages now.'],
  queuedMessages: ['kipimo_mqtt_queued_messages', 'Messages that wait for MQTT sessions.'],
  queuedBytes: ['kipimo_mqtt_queued_bytes', 'Bytes that wait for MQTT sessions.'],
} as const;

const counters = {
  messagesReceived: ['kipimo_mqtt_messages_received_total', 'Messages that MQTT clients sent.'],
  messagesSent: ['kipimo_mqtt_messages_sent_total', 'Messages that MQTT clients were sent.'],
  bytesReceived: ['kipimo_mqtt_bytes_received_total', 'Bytes that MQTT clients sent.'],
  bytesSent: ['kipimo_mqtt_bytes_sent_total', 'Bytes that MQTT clients were sent.'],
} as const;

/** Shows what the broker counts. */
export function addMqttMetrics({ watched }: Meters, read: () => MqttMetrics): void {
  for (const [field, [name, help]] of entriesOf(gauges)) {
    watched('gauge', name, { help }, () => [[read()[field]]]);
  }
  for (const [field, [name, help]] of entriesOf(counters)) {
    watched('count', name, { help }, () => [[read()[field]]]);
  }
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

/** The entries of a table, with the type of its keys. */
function entriesOf<Key extends string, Value>(table: Readonly<Record<Key, Value>>) {
  return Object.entries(table) as [Key, Value][];
}
