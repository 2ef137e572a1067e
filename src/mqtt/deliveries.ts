import type { FeedEvent } from '../domain/datapoints/feed.ts';
import type { Watch } from '../domain/datapoints/watch.ts';
import type { Broker } from './broker.ts';
import { mqttLimits } from './limits.ts';
import { arrayMessage, datapointMessage, isPublished, settingMessage } from './live-message.ts';
import { actuatorTopic, valuesTopic, valueTopic } from './topics.ts';

/**
 * Hands what was stored to the broker, which asks for the rights of each subscriber. A push to
 * what nobody subscribed to costs a look at the tree of subscriptions.
 */
export function deliverLive(watch: Watch, broker: Broker): () => void {
  return watch.open((events) => {
    for (const event of events) {
      if (event.kind === 'actuator' || broker.hasAnySubscriber()) deliverEvent(broker, event);
    }
  });
}

type Receivers = Pick<Broker, 'deliver' | 'hasSubscribers' | 'renewRetained'>;

/** Hands on what one event says. */
export function deliverEvent(broker: Receivers, event: FeedEvent): void {
  if (event.kind === 'actuator') deliverSetting(broker, event);
  else deliverDatapoints(broker, event);
}

function deliverDatapoints(
  broker: Receivers,
  event: Extract<FeedEvent, { readonly kind: 'datapoints' }>,
): void {
  // Its datapoints are made when they are asked for.
  const { publishContext } = event;
  const topic = valueTopic(event);
  if (broker.hasSubscribers(topic)) {
    const live = event.datapoints.slice(-mqttLimits.liveDatapointsPerPushMax);
    broker.deliver(
      live.map((datapoint, at) => datapointMessage(topic, datapoint, publishContext, at)),
    );
  }
  const arrayTopic = valuesTopic(event);
  if (broker.hasSubscribers(arrayTopic, 'named')) {
    broker.deliver([arrayMessage(arrayTopic, event.datapoints, publishContext)], 'named');
  }
}

function deliverSetting(
  broker: Receivers,
  {
    deviceId,
    actuatorId,
    value,
    publishContext,
    origin,
  }: Extract<FeedEvent, { readonly kind: 'actuator' }>,
): void {
  const topic = actuatorTopic(deviceId, actuatorId);
  const message = settingMessage(topic, value, publishContext);
  if (origin !== undefined) message.origin = origin;
  if (broker.hasSubscribers(topic)) broker.deliver([message]);
  // Else a gateway that comes back would obey an older setting that somebody retained.
  if (!isPublished(publishContext)) broker.renewRetained({ ...message, retain: true });
}
