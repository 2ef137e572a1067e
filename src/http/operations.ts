import type { FastifyInstance } from 'fastify';
import { DomainError, forbidden } from '../domain/errors.ts';
import type { SteadyClock } from '../lib/clock.ts';
import { jsonType } from './answer.ts';
import type { Authenticate } from './authentication.ts';

/** Probes wait no longer. */
const readyMs = 1_500;

export interface OperationsOptions {
  /** The clock that dates answers. */
  readonly clock: SteadyClock;
  readonly ping: () => Promise<void>;
  readonly metricsText: () => Promise<string>;
  readonly metricsContentType: string;
}

/** Mounts the paths for an operator's tools: is it alive, is it ready, what does it count. */
export function mountOperations(
  fastify: FastifyInstance,
  options: OperationsOptions & { readonly authenticate: Authenticate },
): void {
  const ok = JSON.stringify({ status: 'ok' });
  fastify.get('/healthz', (_request, reply) => reply.header('content-type', jsonType).send(ok));
  fastify.get('/readyz', async (_request, reply) => {
    await soon(options.ping());
    const behindMs = options.clock.aheadMs();
    const said = {
      status: 'ok',
      ...(behindMs > 0 && { clock: 'behind', clock_behind_s: Math.round(behindMs / 1_000) }),
    };
    return reply.header('content-type', jsonType).send(JSON.stringify(said));
  });
  fastify.get('/metrics', async (request, reply) => {
    const actor = await options.authenticate(request.headers.authorization);
    if (actor.kind !== 'admin') throw forbidden('metrics need the token or key of an admin');
    return reply.type(options.metricsContentType).send(await options.metricsText());
  });
}

/** Waits for the engine, but not for long. Throws unavailable. */
async function soon(answer: Promise<void>): Promise<void> {
  const sentence = 'the storage has not answered for a while';
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => late.reject(new DomainError('unavailable', sentence)), readyMs);
  try {
    await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
    // Ignore a later rejection: no client waits for the answer any more.
    answer.catch(() => undefined);
  }
}
