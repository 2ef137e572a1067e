import type { Actor } from '../domain/actor.ts';
import type { Watch } from '../domain/datapoints/watch.ts';
import type { MayTunnel } from '../domain/messaging/tunnels.ts';
import { systemPrefix, type Target } from './topics.ts';

/** Whether the actor may get a message on this topic now. */
export type MayReceive = (actor: Actor, topic: string) => boolean | Promise<boolean>;

/** Which question of the domain decides about a topic. */
export function createMayReceive(options: {
  readonly watch: Watch;
  readonly mayTunnel: MayTunnel;
  readonly readTopic: (topic: string) => Target;
}): MayReceive {
  const { watch, mayTunnel, readTopic } = options;

  function ask(actor: Actor, target: Target): boolean | Promise<boolean> {
    switch (target.kind) {
      case 'datapoints':
        return watch.mayView(actor, target.sensor.deviceId);
      case 'actuator':
        return watch.mayView(actor, target.deviceId);
      case 'tunnel':
        return mayTunnel(actor, target.place);
      case 'system':
        return actor.kind === 'admin';
      case 'nothing':
        return false;
    }
  }

  return (actor, topic) => {
    const answer = ask(actor, readTopic(topic));
    // Without an answer of the store nothing is shown.
    return answer instanceof Promise ? answer.catch(() => false) : answer;
  };
}

const sharePattern = /^\$share\/[^/]*\//;

/** What one may not see is subscribed to in silence, but for the service's own [contract 8]. */
export function maySubscribe(actor: Actor, filter: string): boolean {
  const topics = filter.replace(sharePattern, '');
  if (!topics.startsWith('$')) return true;
  return actor.kind === 'admin' && `${topics}/`.startsWith(systemPrefix);
}
