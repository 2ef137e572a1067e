import type { Message } from '../domain/messaging/message.ts';
import type { Metric, MetricSource } from '../domain/metrics.ts';
import type { Log } from '../lib/log.ts';
import type { Broker } from './broker.ts';
import { mqttLimits } from './limits.ts';
import { systemPrefix } from './topics.ts';

const topicOf = (name: string): string => `${systemPrefix}metrics/${name}`;

/**
 * Delivers the metrics of the service below $SYS/metrics, every now and then, while a client
 * subscribes to one of them; the answer ends that.
 */
export function publishSystemMetrics(options: {
  readonly broker: Pick<Broker, 'hasSubscribers' | 'deliver'>;
  readonly metrics: MetricSource;
  readonly log: Log;
}): () => void {
  const { broker, metrics, log } = options;
  let isReading = false;

  async function deliver(): Promise<void> {
    const isWanted = metrics.names().some((name) => broker.hasSubscribers(topicOf(name)));
    if (!isWanted || isReading) return;
    isReading = true;
    try {
      broker.deliver((await metrics.read()).map(metricMessage));
    } catch (error) {
      log.error({ err: error }, 'the metrics of the service could not be read');
    } finally {
      isReading = false;
    }
  }

  const timer = setInterval(() => void deliver(), mqttLimits.systemMetricsMs).unref();
  return () => clearInterval(timer);
}

/** A metric without labels as a bare number, others as a list. */
function metricMessage({ name, values }: Metric): Message {
  const [only, ...others] = values;
  const isBare = only !== undefined && others.length === 0 && Object.keys(only.labels).length === 0;
  const payload = Buffer.from(JSON.stringify(isBare ? only.value : values));
  return { topic: topicOf(name), payload, qos: 0, retain: false };
}
