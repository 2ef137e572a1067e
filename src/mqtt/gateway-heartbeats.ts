import type { Actor } from '../domain/actor.ts';
import { DomainError, isFailureToStore } from '../domain/errors.ts';
import type { Gateways } from '../domain/gateways/gateways.ts';
import type { Presence } from '../domain/gateways/presence.ts';
import { type GatewayId, parseGatewayId } from '../domain/ids.ts';
import type { Log } from '../lib/log.ts';

/** A client that may be a gateway, from its arrival until it leaves. */
export interface GatewayConnection {
  /** Asks again whether the gateway exists and is the client's to speak for. */
  renew(actor: Actor | undefined): void;
  leave(actor: Actor | undefined): void;
}

/** A connected client whose client id is a gateway's is its sign of life [contract 5]. */
export interface GatewayHeartbeats {
  /** undefined: the client id cannot be a gateway's. */
  arrive(clientId: string, actor: Actor): GatewayConnection | undefined;
}

export function createGatewayHeartbeats(options: {
  readonly gateways: Gateways;
  readonly presence: Presence;
  readonly log: Log;
}): GatewayHeartbeats {
  const { gateways, presence, log } = options;

  /** Records a sign of life; false: not a gateway, or not the actor's to update. */
  async function beat(id: GatewayId, actor: Actor | undefined): Promise<boolean> {
    if (actor === undefined) return false;
    try {
      await gateways.heartbeat(actor, id);
      return true;
    } catch (error) {
      if (!(error instanceof DomainError)) {
        log.error({ err: error }, 'the sign of life of a gateway met a bug');
      }
      // While the store cannot answer nothing is known to have changed; it is asked again.
      return error instanceof DomainError && isFailureToStore(error);
    }
  }

  return {
    arrive(clientId, actor) {
      const id = readGatewayId(clientId);
      if (id === undefined) return undefined;
      let end: (() => void) | undefined;
      let isHere = true;

      const renew = async (who: Actor | undefined): Promise<void> => {
        const isGateway = await beat(id, who);
        if (isGateway && isHere) end ??= presence.enter(id);
        else {
          end?.();
          end = undefined;
        }
      };

      void renew(actor);
      return {
        renew: (who) => void renew(who),
        leave(who) {
          isHere = false;
          if (end !== undefined) void beat(id, who);
          end?.();
          end = undefined;
        },
      };
    },
  };
}

function readGatewayId(clientId: string): GatewayId | undefined {
  try {
    return parseGatewayId(clientId);
  } catch {
    // Any text may be a client id, but not a gateway's.
    return undefined;
  }
}
