import type { Figure, FigureSource } from '../domain/figures.ts';
import type { Message } from '../domain/messaging/message.ts';
import type { Log } from '../lib/log.ts';
import type { Broker } from './broker.ts';
import { mqttLimits } from './limits.ts';
import { systemPrefix } from './topics.ts';

const topicOf = (name: string): string => `${systemPrefix}metrics/${name}`;

/**
 * Delivers the figures of the service below $SYS/metrics, every now and then, while somebody
 * subscribes to one of them; the answer ends that.
 */
export function deliverFigures(options: {
  readonly broker: Pick<Broker, 'hasSubscribers' | 'deliver'>;
  readonly figures: FigureSource;
  readonly log: Log;
}): () => void {
  const { broker, figures, log } = options;
  let isReading = false;

  async function deliver(): Promise<void> {
    const isWanted = figures.names().some((name) => broker.hasSubscribers(topicOf(name)));
    if (!isWanted || isReading) return;
    isReading = true;
    try {
      broker.deliver((await figures.read()).map(figureMessage));
    } catch (error) {
      log.error({ err: error }, 'the figures of the service could not be read');
    } finally {
      isReading = false;
    }
  }

  const timer = setInterval(() => void deliver(), mqttLimits.figuresMs).unref();
  return () => clearInterval(timer);
}

/** A figure without labels as a bare number, others as a list. */
function figureMessage({ name, values }: Figure): Message {
  const [only, ...others] = values;
  const isBare = only !== undefined && others.length === 0 && Object.keys(only.labels).length === 0;
  const payload = Buffer.from(JSON.stringify(isBare ? only.value : values));
  return { topic: topicOf(name), payload, qos: 0, retain: false };
}
