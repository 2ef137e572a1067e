import { isUtf8 } from 'node:buffer';
import { guest } from '../domain/actor.ts';
import type { RefusedPushes } from '../domain/datapoints/refused-pushes.ts';
import { DomainError } from '../domain/errors.ts';
import { accountOf, identityOf } from '../domain/messaging/identity.ts';
import type { Reporter } from '../domain/reporter.ts';
import type { AuthenticateClient } from '../domain/users/client-authentication.ts';
import type { OfflineActors } from '../domain/users/credential-directory.ts';
import type { Log } from '../lib/log.ts';
import { AuthenticatedClient, type ClientServices } from './authenticated-client.ts';
import {
  type BrokerHooks,
  type ConnectAnswer,
  type ConnectRefusal,
  type ConnectRequest,
  unavailableOutcome,
} from './broker.ts';

export interface ServiceHooksOptions extends ClientServices {
  readonly admit: AuthenticateClient;
  readonly offlineActors: OfflineActors;
  readonly refusedPushes: Pick<RefusedPushes, 'note'>;
  readonly reporter: Reporter;
  readonly log: Log;
}

/** The service as the broker asks it: which clients may come in, and what they may do. */
export function createServiceHooks(options: ServiceHooksOptions): BrokerHooks {
  const { admit, offlineActors, rights, sessions, refusedPushes, reporter, log } = options;

  async function letIn(request: ConnectRequest): Promise<ConnectAnswer> {
    const { username, password, address, clientId, signal } = request;
    const { generation } = sessions;
    if (password !== undefined && !isUtf8(password)) return refuse('bad_credentials');
    const admission = await admit({
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password: Buffer.from(password).toString('utf8') }),
      address,
      ...(signal && { signal }),
    });
    const identity = identityOf(admission.actor);
    const client = new AuthenticatedClient(options, { admission, identity, clientId, generation });
    return { kind: 'accepted', client };
  }

  function refuse(reason: ConnectRefusal): ConnectAnswer {
    reporter.connectionRefused(reason);
    return { kind: 'refused', reason };
  }

  return {
    async connect(request) {
      try {
        return await letIn(request);
      } catch (error) {
        if (!(error instanceof DomainError)) {
          log.error({ err: error }, 'a login over MQTT met a bug');
          return refuse('unavailable');
        }
        const { username, address } = request;
        if (username !== undefined) {
          void refusedPushes.note({ via: 'mqtt', code: error.code, username, address });
        }
        return refuse(refusalOf(error));
      }
    },
    async mayQueue(identity, topic) {
      const account = accountOf(identity);
      try {
        const actor = account === undefined ? guest : await offlineActors.find(account);
        return actor !== undefined && (await rights.mayReceive(actor, topic));
      } catch {
        // Without an answer the message is kept: the right is checked again at its delivery.
        return true;
      }
    },
    async publishFor(identity, message) {
      const account = accountOf(identity);
      try {
        const actor = account === undefined ? guest : await offlineActors.find(account);
        if (actor === undefined) return { kind: 'refused', reason: 'not_authorized' };
        return await options.publish(actor, message);
      } catch {
        return unavailableOutcome;
      }
    },
    tryQueue(identity, topic) {
      const account = accountOf(identity);
      const actor = account === undefined ? guest : offlineActors.peek(account);
      return actor === undefined ? 'unknown' : rights.tryReceive(actor, topic);
    },
  };
}

function refusalOf({ code }: DomainError): ConnectRefusal {
  if (code === 'unauthenticated') return 'bad_credentials';
  if (code === 'rate_limited' || code === 'unavailable') return code;
  if (code === 'storage_full') return 'unavailable';
  return 'not_authorized';
}
