import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';

/**
 * The yardstick: the same framework with the same routes that does nothing. It reads a JSON body
 * as Fastify does by default, answers 204, and serialises one fixed object. Runs until standard
 * input ends, so that it never outlives whoever started it.
 */
export async function runNoOpServer(deviceText: string): Promise<void> {
  const device: unknown = JSON.parse(deviceText);
  const fastify = Fastify({ logger: false, forceCloseConnections: true });
  fastify.post('/api/v2/devices/:device_id/sensors/:sensor_id/value', (_request, reply) => {
    reply.code(204).send();
  });
  fastify.get('/api/v2/devices/:device_id', (_request, reply) => {
    reply.send(device);
  });
  fastify.get('/healthz', (_request, reply) => {
    reply.send({ status: 'ok' });
  });
  await fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = fastify.server.address() as AddressInfo;
  process.stdout.write(`{"url":"http://127.0.0.1:${port}"}\n`);
  await once(process.stdin.resume(), 'end');
  await fastify.close();
}
