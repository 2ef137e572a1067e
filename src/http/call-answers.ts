import type { FastifyInstance } from 'fastify';
import { readForm } from '../wire/thing-speak.ts';
import { EdgeError } from './errors.ts';

/** Where a provider of calls asks what to say. */
export const callAnswersPath = '/callbacks/africastalking/voice';

/**
 * Answers what a call that was just picked up shall say. The provider has no token: the call's id,
 * 256 bits that only the provider was given, is the proof.
 */
export function mountCallAnswers(
  fastify: FastifyInstance,
  answerCall: (callId: string) => Promise<string>,
): void {
  fastify.post(callAnswersPath, async (request, reply) => {
    const form = readForm(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
    const callId = form.get('clientRequestId') ?? '';
    // The last question of a call, with isActive=0, only reports that it ended.
    const words = form.get('isActive') === '0' ? '' : await answerCall(callId);
    return reply.type('application/xml').header('cache-control', 'no-store').send(words);
  });
  fastify.route({
    method: ['GET', 'PUT', 'PATCH', 'DELETE'],
    url: callAnswersPath,
    handler: () => {
      throw new EdgeError('method_not_allowed', 'use POST here', { allow: 'POST' });
    },
  });
}
