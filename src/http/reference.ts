import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { jsonType } from './answer.ts';
import type { OpenApiDocument } from './openapi.ts';

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

const startScript = (
  urls: readonly { name: string; url: string }[],
) => `window.ui = SwaggerUIBundle({
  urls: ${JSON.stringify(urls)},
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

/** The interactive reference at /docs, from local files only, and its documents. */
export async function mountReference(
  fastify: FastifyInstance,
  documents: Readonly<Record<string, () => OpenApiDocument>>,
): Promise<void> {
  const urls = Object.keys(documents).map((name) => ({ name, url: `/docs/${name}.json` }));
  const script = startScript(urls);
  fastify.get('/docs', (_request, reply) =>
    reply
      .header('content-security-policy', contentSecurityPolicy)
      .type('text/html; charset=utf-8')
      .send(page),
  );
  fastify.get('/docs/start.js', (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(script),
  );
  for (const [name, document] of Object.entries(documents)) {
    fastify.get(`/docs/${name}.json`, (_request, reply) =>
      reply.header('content-type', jsonType).send(JSON.stringify(document())),
    );
  }
  const packageFile = createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json');
  await fastify.register(fastifyStatic, {
    root: join(dirname(packageFile), 'static'),
    prefix: '/docs/static/',
    decorateReply: false,
    index: false,
  });
}
