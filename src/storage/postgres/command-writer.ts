import type pg from 'pg';
import { createKeyedSequence } from '../../lib/scheduling/keyed-sequence.ts';
import { createSender, sessionOn } from './connection.ts';
import { asRefusal } from './failures.ts';
import type { Work, Writer, WriteSession } from './writer.ts';

/**
 * Waits until the commit of a service that is being made has ended; the next one waits for this
 * one. The number of the service's commits stays as it is.
 */
const takeTurn = 'begin; select seq from writers where writer = 0 for update';

/** Changes of a command, each a commit of its own, beside a service or without one. */
export function createCommandWriter(client: pg.Client): Writer {
  const inOrder = createKeyedSequence();

  async function commit<Answer>(work: Work<Answer>): Promise<Answer> {
    try {
      await client.query(takeTurn);
      const ends: Parameters<WriteSession['atEnd']>[] = [];
      const session = sessionOn(client);
      const { send, arrived } = createSender(session);
      const atEnd: WriteSession['atEnd'] = (...end) => void ends.push(end);
      const others = () => undefined;
      const answer = await work({ ...session, send, atEnd, others });
      for (const end of ends) send(...end);
      await arrived();
      await client.query('commit');
      return answer;
    } catch (error) {
      // Only a connection that is lost during the commit leaves open whether it was made.
      await client.query('rollback').catch(() => undefined);
      throw asRefusal(error);
    }
  }

  return {
    call: (work) => inOrder('', () => commit(work)),
    async close() {
      await inOrder.drain();
      await client.end();
    },
  };
}
