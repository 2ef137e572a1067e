import type { Verdict } from '../domain/access/access.ts';
import type { Actor } from '../domain/actor.ts';
import type { Watch } from '../domain/datapoints/watch.ts';
import type { DeviceTopics } from '../domain/messaging/device-topics.ts';
import { systemPrefix, type Target } from './topics.ts';

/** Whether an actor may get a message on a topic now. */
export interface ReceiveRights {
  /** Rejects when the store cannot answer: then it is to be asked again. */
  mayReceive(actor: Actor, topic: string): Promise<boolean>;
  /** The fast path of deliveries: answers at once, from what is at hand. */
  tryReceive(actor: Actor, topic: string): Verdict;
}

/** Which question of the domain decides about a topic. */
export function createReceiveRights(options: {
  readonly watch: Pick<Watch, 'mayView' | 'tryView'>;
  readonly deviceTopics: DeviceTopics;
  readonly readTopic: (topic: string) => Target;
}): ReceiveRights {
  const { watch, deviceTopics, readTopic } = options;

  async function ask(actor: Actor, target: Target): Promise<boolean> {
    switch (target.kind) {
      case 'datapoints':
        return watch.mayView(actor, target.sensor.deviceId);
      case 'actuator':
        return watch.mayView(actor, target.deviceId);
      case 'device_topic':
        return deviceTopics.may(actor, target.owner);
      case 'system':
        return actor.kind === 'admin';
      case 'channel':
      case 'nothing':
        return false;
    }
  }

  return {
    mayReceive: (actor, topic) => ask(actor, readTopic(topic)),
    tryReceive(actor, topic) {
      const target = readTopic(topic);
      switch (target.kind) {
        case 'datapoints':
          return watch.tryView(actor, target.sensor.deviceId);
        case 'actuator':
          return watch.tryView(actor, target.deviceId);
        case 'device_topic':
          return deviceTopics.tryMay(actor, target.owner);
        default:
          return 'unknown';
      }
    },
  };
}

const sharePattern = /^\$share\/[^/]*\//;

/** Accepts filters of topics the actor may not see, but for the service's own [contract 8]. */
export function maySubscribe(actor: Actor, filter: string): boolean {
  const topics = filter.replace(sharePattern, '');
  if (!topics.startsWith('$')) return true;
  return actor.kind === 'admin' && `${topics}/`.startsWith(systemPrefix);
}
