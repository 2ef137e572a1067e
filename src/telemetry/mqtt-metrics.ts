import { Counter, Gauge, type Registry } from 'prom-client';
import type { MqttMetrics } from '../domain/metrics.ts';

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

/** Who and what the MQTT servers did not take. */
export function createMqttRefusals(registers: Registry[]) {
  return {
    publishesRefused: new Counter({
      name: 'kipimo_mqtt_publishes_refused_total',
      help: 'MQTT messages that were acknowledged and dropped, or not taken: by reason.',
      labelNames: ['reason'],
      registers,
    }),
    connectionsRefused: new Counter({
      name: 'kipimo_mqtt_connections_refused_total',
      help: 'MQTT clients that were not let in, by reason.',
      labelNames: ['reason'],
      registers,
    }),
  };
}

/** Shows what the broker counts; it is asked whenever somebody reads the metrics. */
export function addMqttMetrics(registry: Registry, read: () => MqttMetrics): void {
  const registers = [registry];
  for (const [field, [name, help]] of entriesOf(gauges)) {
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read()[field]);
      },
    });
  }
  for (const [field, [name, help]] of entriesOf(counters)) {
    new Counter({
      ...{ name, help, registers },
      collect() {
        this.reset();
        this.inc(read()[field]);
      },
    });
  }
  new Counter({
    name: 'kipimo_mqtt_messages_dropped_total',
    help: 'Messages that did not reach an MQTT session, by reason.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(read().dropped)) this.inc({ reason }, count);
    },
  });
  new Counter({
    name: 'kipimo_mqtt_connections_closed_total',
    help: 'MQTT connections that the service ended, by MQTT 5 reason code.',
    labelNames: ['code'],
    registers,
    collect() {
      this.reset();
      for (const [code, count] of read().closedByCode) this.inc({ code: String(code) }, count);
    },
  });
}

/** The entries of a table, with the type of its keys. */
function entriesOf<Key extends string, Value>(table: Readonly<Record<Key, Value>>) {
  return Object.entries(table) as [Key, Value][];
}
