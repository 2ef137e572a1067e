import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { nothingAt } from '../lost-paths.ts';

/** Facts about the service for the dashboard, in a meta tag. Nothing in it is secret. */
export interface DashboardSettings {
  readonly version: string;
  readonly tokenLifeSeconds: number;
  /** Whether strangers may make accounts now. */
  readonly signup: SignUp;
  /** Whether anybody may push to a public device; absent: anybody may. */
  readonly publicPush?: 'open' | 'granted';
  /** Where MQTT over TCP listens. */
  readonly mqttPort: number;
  readonly tileUrl?: string;
  readonly tileAttribution?: string;
  /** The person to ask for a new password. */
  readonly contact?: string;
}

type SignUp = 'open' | 'closed';
/** Path of the scripts, styles and pictures that the build made. */
export const assetsPath = '/assets/';
const html = 'text/html; charset=utf-8';

/** First parts of paths that are the service's own; everything else is a screen. */
const ownPaths: ReadonlySet<string> = new Set([
  'api',
  'docs',
  'guides',
  'healthz',
  'readyz',
  'metrics',
  'websocket',
  'mqtt',
  'update',
  'update.json',
  'write',
  'assets',
]);

const fileTypes: Readonly<Record<string, string>> = {
  'service-worker.js': 'text/javascript; charset=utf-8',
  'manifest.webmanifest': 'application/manifest+json; charset=utf-8',
  'licences.txt': 'text/plain; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'icon-192.png': 'image/png',
  'icon-512.png': 'image/png',
};

const yearSeconds = 31_536_000;

/** The built web app at `/`: assets for ever, the page anew each time, under a strict policy. */
export async function mountDashboard(
  fastify: FastifyInstance,
  options: {
    readonly settings: Omit<DashboardSettings, 'signup'>;
    readonly signUpNow: () => SignUp;
    readonly folder?: string | undefined;
    /** People reach the service over HTTPS alone: its public URL says so. */
    readonly isHttpsOnly: boolean;
  },
): Promise<void> {
  const folder = findFolder(options.folder);
  const pagesOf = (signup: SignUp) => createPages(folder, { ...options.settings, signup });
  const pages = { open: pagesOf('open'), closed: pagesOf('closed') };
  const policy = contentSecurityPolicy(pages.open.scriptHash, options.settings.tileUrl);
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { accept } = request.headers;
    if (!isScreen(request.url, accept)) throw nothingAt(request.url);
    const page = pages[options.signUpNow()].pageAt(pathOf(request.url));
    if (options.isHttpsOnly) reply.header('strict-transport-security', `max-age=${yearSeconds}`);
    return sendPage(request, reply, { page, policy });
  };
  fastify.get('/', answer);
  fastify.get('/*', answer);
  if (folder === undefined) return;
  for (const [name, type] of Object.entries(fileTypes)) mountFile(fastify, folder, name, type);
  await mountGuides(fastify, join(folder, 'guides'));
  await fastify.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: assetsPath,
    decorateReply: false,
    index: false,
    preCompressed: true,
    immutable: true,
    maxAge: yearSeconds * 1_000,
  });
}

const guidesPolicy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

/** The manual below `/guides/`, as the build rendered it. */
async function mountGuides(fastify: FastifyInstance, root: string): Promise<void> {
  if (!existsSync(join(root, 'index.html'))) return;
  const headers = { 'cache-control': 'no-cache', 'content-security-policy': guidesPolicy };
  const list = readFileSync(join(root, 'index.html'));
  fastify.get('/guides', (_request, reply) => reply.headers(headers).type(html).send(list));
  await fastify.register(fastifyStatic, {
    root,
    prefix: '/guides/',
    decorateReply: false,
    extensions: ['html'],
    cacheControl: false,
    setHeaders: (reply) => {
      reply.headers(headers);
    },
  });
}

/** The given folder; else beside the compiled service, or where the sources are built to. */
function findFolder(given: string | undefined): string | undefined {
  const usual = ['../../dashboard', '../../../dist/dashboard'];
  const places =
    given === undefined ? usual.map((way) => resolve(import.meta.dirname, way)) : [given];
  return places.find((place) => existsSync(join(place, 'index.html')));
}

/**
 * Own files alone, and of scripts in the page the one that the build put there; connections to the
 * origin itself, and the tile server.
 */
function contentSecurityPolicy(
  scriptHash: string | undefined,
  tileUrl: string | undefined,
): string {
  const tiles = tileUrl === undefined ? '' : ` ${tileOrigin(tileUrl)}`;
  return [
    "default-src 'none'",
    `script-src 'self'${scriptHash === undefined ? '' : ` '${scriptHash}'`}`,
    "style-src 'self'",
    `img-src 'self' data: blob:${tiles}`,
    "connect-src 'self' {sockets}",
    "font-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The host of a tile URL; a pattern such as {s}.tile.example becomes a wildcard. */
function tileOrigin(tileUrl: string): string {
  const [, scheme = '', host = ''] = /^(https?:\/\/)([^/?#]+)/.exec(tileUrl) ?? [];
  return scheme + host.replace(/^\{s\}\./, '*.');
}

const hostPattern = /^[A-Za-z0-9.-]{1,253}(:\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?$/;

/** Older browsers do not count ws: as 'self'; a host that is none is left out of the header. */
function socketSources(host: string | undefined): string {
  return host !== undefined && hostPattern.test(host) ? `ws://${host} wss://${host}` : '';
}

function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { page, policy }: { readonly page: Page; readonly policy: string },
): FastifyReply {
  const accepted = String(request.headers['accept-encoding'] ?? '').split(/\W+/);
  const encoding = (['br', 'gzip'] as const).find((one) => accepted.includes(one));
  if (encoding !== undefined) reply.header('content-encoding', encoding);
  const isKnown = request.headers['if-none-match'] === page.tag;
  return reply
    .code(isKnown ? 304 : 200)
    .headers({
      'content-type': html,
      'cache-control': 'no-cache',
      etag: page.tag,
      'content-security-policy': policy.replace('{sockets}', socketSources(request.headers.host)),
      'referrer-policy': 'same-origin',
      'permissions-policy': 'camera=(), microphone=(), geolocation=(self)',
      'x-frame-options': 'DENY',
      vary: 'accept-encoding',
    })
    .send(isKnown ? undefined : page[encoding ?? 'plain']);
}

function mountFile(fastify: FastifyInstance, folder: string, name: string, type: string): void {
  const path = join(folder, name);
  if (!existsSync(path)) return;
  const content = readFileSync(path);
  fastify.get(`/${name}`, (_request, reply) =>
    reply.headers({ 'content-type': type, 'cache-control': 'no-cache' }).send(content),
  );
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';
/** Not clean: empty parts but the last, and steps upwards. */
const strayParts = /\/\/|\/(\.|%2e){1,2}(\/|$)/i;

/**
 * A file at the root that is not there is missing; below it, ids may have dots. Screens are for
 * browsers, which ask for HTML by name: a client that asks for anything is a program that got lost.
 */
function isScreen(url: string, accept: string | undefined): boolean {
  const path = pathOf(url);
  if (path === '/') return true;
  if (!/\btext\/html\b/i.test(accept ?? '')) return false;
  const [, first = '', ...others] = path.split('/');
  if (ownPaths.has(first) || strayParts.test(path)) return false;
  return others.length > 0 || !first.includes('.');
}

/** The page of the web app as it is sent. */
interface Page {
  /** The ETag of the page: it changes with the build and the settings. */
  readonly tag: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly br: Buffer;
}

/** Reads the built page of a folder, and fills the settings in; no folder: how to build it. */
function createPages(folder: string | undefined, settings: object) {
  const template =
    folder === undefined ? unbuiltPage : readFileSync(join(folder, 'index.html'), 'utf8');
  const filled = template.replace('<!--settings-->', () => metaTag('settings', settings));
  const screens = readScreens(folder).map(({ path, ...files }) => {
    const page = createPage(filled.replace('<!--screen-->', () => metaTag('screen', files)));
    return { pattern: patternOf(path), page };
  });
  const other = createPage(filled.replace('<!--screen-->', ''));
  return {
    /** The hash of the page's script, for a content security policy; absent: there is none. */
    scriptHash: hashOfScript(template),
    /** The page at an address: it names the scripts that the build says are shown there. */
    pageAt: (path: string): Page =>
      screens.find(({ pattern }) => pattern.test(path))?.page ?? other,
  };
}

/** Screens as the build describes them: their addresses with blanks, and what they load. */
function readScreens(folder: string | undefined): readonly { readonly path: string }[] {
  const path = folder && join(folder, 'screens.json');
  return path && existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
}

/** A path with blanks such as `/devices/:device` and `/:part?`, as a pattern of whole addresses. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/\/:\w+\?/g, '(?:/[^/]+)?').replace(/:\w+/g, '[^/]+')}/?$`);

/** Of the one script without an address that the build puts into the page. */
function hashOfScript(template: string): string | undefined {
  const [, script] = /<script>(.*?)<\/script>/s.exec(template) ?? [];
  if (script === undefined) return undefined;
  return `sha256-${createHash('sha256').update(script).digest('base64')}`;
}

function createPage(text: string): Page {
  const plain = Buffer.from(text);
  // When the first browser asks: brotli costs a start more than most of the other routes.
  let [gzip, br]: (Buffer | undefined)[] = [];
  return {
    tag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    get gzip() {
      gzip ??= gzipSync(plain);
      return gzip;
    },
    get br() {
      br ??= brotliCompressSync(plain);
      return br;
    },
  };
}

// As functions where it is filled in: a text would have its $ read as patterns.
const metaTag = (name: string, content: object): string =>
  `<meta name="kipimo-${name}" content="${escapeAttribute(JSON.stringify(content))}">`;

const escapeAttribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

const unbuiltPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Kipimo</title>
  </head>
  <body>
    <h1>Kipimo is running</h1>
    <p>The dashboard has not been built yet. Run <code>npm run dashboard</code> in the repository,
    then start the service again.</p>
    <p>The API is there already: <a href="/docs">its reference</a>.</p>
  </body>
</html>
`;
