import { sessionKey } from '../../domain/messaging/message.ts';
import type { ConnectAnswer, ConnectRequest } from '../broker-hooks.ts';
import type { ConnectPacket } from '../packets/packet.ts';
import type { Transport } from '../transport.ts';
import type { BrokerContext } from './broker-context.ts';
import { termsFor, willOf } from './login.ts';

/** CONNECT, and the question that is made of it. */
interface Login {
  readonly packet: ConnectPacket;
  readonly request: ConnectRequest;
  readonly transport: Transport;
}

/**
 * Asks whether a client may come in, and calls `admitLate` once: where other processes have
 * sessions as well, when this process has claimed that of the client, with the term of the claim.
 */
export function letIn(
  { authority, ownership, log }: BrokerContext,
  { packet, request, transport }: Login,
  admitLate: (answer: ConnectAnswer, turn?: number) => void,
): void {
  const release = transport.holdForLogin?.();
  const admit = (answer: ConnectAnswer, turn?: number): void => {
    release?.();
    if (answer.kind === 'accepted') transport.countFor?.(answer.client.payer);
    admitLate(answer, turn);
  };
  const unavailable = { kind: 'refused', reason: 'unavailable' } as const;
  const asked = authority.connect(request).catch((error: unknown) => {
    log.error({ error }, 'a login to MQTT failed');
    return unavailable;
  });
  void asked.then((answer) => {
    if (ownership === undefined || answer.kind === 'refused') {
      admit(answer);
      return;
    }
    const { client } = answer;
    const { identity, payer } = client;
    const { clientId } = request;
    const { expirySeconds } = termsFor(packet, client, clientId);
    const { cleanStart } = packet;
    const key = sessionKey(identity, clientId);
    const will = willOf(packet, key, payer);
    const taking = { identity, payer, clientId, cleanStart, expirySeconds, will };
    ownership
      .take(taking, (turn) => admit(answer, turn))
      .catch((error: unknown) => {
        log.warn({ err: error }, 'the session of a client could not be claimed');
        admit(unavailable);
      });
  });
}
