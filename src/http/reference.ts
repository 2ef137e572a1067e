import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { jsonType } from './answer.ts';

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Kipimo API reference</title>
    <link rel="stylesheet" href="/docs/static/swagger-ui.css">
    <link rel="icon" type="image/png" href="/docs/static/favicon-32x32.png">
  </head>
  <body>
    <nav style="padding: 12px 20px; font: 16px sans-serif">
      <a href="/">Dashboard</a> · <a href="/guides/">Guides</a>
    </nav>
    <div id="reference"></div>
    <script src="/docs/static/swagger-ui-bundle.js"></script>
    <script src="/docs/static/swagger-ui-standalone-preset.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const versions = ['v2', 'v1'] as const;

const startScript = `window.ui = SwaggerUIBundle({
  urls: ${JSON.stringify(versions.map((name) => ({ name, url: `/docs/${name}.json` })))},
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
});
`;

const contentSecurityPolicy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
  "object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/** The pages that `npm run docs` makes of the routes; the package has it at the same place. */
const documents = join(import.meta.dirname, '..', '..', 'docs', 'openapi');

/** The interactive reference at /docs, from local files only, and its documents. */
export async function mountReference(fastify: FastifyInstance): Promise<void> {
  fastify.get('/docs', (_request, reply) =>
    reply
      .header('content-security-policy', contentSecurityPolicy)
      .type('text/html; charset=utf-8')
      .send(page),
  );
  fastify.get('/docs/start.js', (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(startScript),
  );
  for (const name of versions) {
    fastify.get(`/docs/${name}.json`, async (_request, reply) => {
      const text = await readFile(join(documents, `${name}.json`), 'utf8');
      return reply.header('content-type', jsonType).send(JSON.stringify(JSON.parse(text)));
    });
  }
  const packageFile = createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json');
  await fastify.register(fastifyStatic, {
    root: join(dirname(packageFile), 'static'),
    prefix: '/docs/static/',
    decorateReply: false,
    index: false,
  });
}
