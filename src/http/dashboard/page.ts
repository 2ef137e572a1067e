import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/** The page of the web app as it is sent. */
export interface Page {
  /** The ETag of the page: it changes with the build and the settings. */
  readonly tag: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly brotli: Buffer;
}

/** The pages of one build with one set of settings. */
export interface Pages {
  /** The hash of the page's script, for a content security policy; absent: there is none. */
  readonly scriptHash: string | undefined;
  /** The page at an address: it names the scripts that the build says are shown there. */
  pageAt(path: string): Page;
}

/** A screen as the build describes it: its address with blanks, and what it loads. */
interface BuiltScreen {
  readonly path: string;
}

/** Reads the built page of a folder, and fills the settings in; no folder: how to build it. */
export function createPages(folder: string | undefined, settings: object): Pages {
  if (folder === undefined) {
    const page = createPage(unbuiltPage);
    return { scriptHash: undefined, pageAt: () => page };
  }
  const template = readFileSync(join(folder, 'index.html'), 'utf8');
  const filled = template.replace('<!--settings-->', () => metaTag('settings', settings));
  const screens = readScreens(folder).map((screen) => {
    const { path, ...files } = screen;
    const page = createPage(filled.replace('<!--screen-->', () => metaTag('screen', files)));
    return { pattern: patternOf(path), page };
  });
  const other = createPage(filled.replace('<!--screen-->', ''));
  return {
    scriptHash: hashOfScript(template),
    pageAt: (path) => screens.find(({ pattern }) => pattern.test(path))?.page ?? other,
  };
}

function readScreens(folder: string): readonly BuiltScreen[] {
  const path = join(folder, 'screens.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
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
  let [gzip, brotli]: (Buffer | undefined)[] = [];
  return {
    tag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    get gzip() {
      gzip ??= gzipSync(plain);
      return gzip;
    },
    get brotli() {
      brotli ??= brotliCompressSync(plain);
      return brotli;
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
