import type { Route } from '../route.ts';

/** The words that may follow, and the node behind any other part. */
interface PathNode {
  readonly words: Map<string, PathNode>;
  other?: PathNode;
}

const prefix = /^\/+api\/+v1(?=[/?#]|$)/i;

/**
 * The one form of a path of version 1: its words may be in any case, and a domain before them, as
 * in version 1.0, is dropped [contract 9]. Ids stay as they are, and so do all other paths.
 */
export function createV1Paths(routes: readonly Pick<Route, 'path'>[]): (url: string) => string {
  const root: PathNode = { words: new Map() };
  for (const { path } of routes) learn(root, path);
  return (url) => {
    const start = prefix.exec(url)?.[0];
    if (start === undefined) return url;
    const rest = url.slice(start.length);
    const end = rest.search(/[?#]/);
    const path = end < 0 ? rest : rest.slice(0, end);
    return `/api/v1${inOneForm(root, path)}${end < 0 ? '' : rest.slice(end)}`;
  };
}

function learn(root: PathNode, path: string): void {
  let node = root;
  for (const part of partsOf(path)) {
    const isWord = !part.startsWith(':');
    const known = isWord ? node.words.get(part) : node.other;
    const next = known ?? { words: new Map() };
    if (isWord) node.words.set(part, next);
    else node.other = next;
    node = next;
  }
}

function inOneForm(root: PathNode, path: string): string {
  const parts = partsOf(path);
  const isInDomain = parts[0]?.toLowerCase() === 'domains' && parts.length > 1;
  let node: PathNode | undefined = root;
  let form = '';
  for (const part of isInDomain ? parts.slice(2) : parts) {
    const lower = part.toLowerCase();
    const word: PathNode | undefined = node?.words.get(lower);
    form += `/${word === undefined ? part : lower}`;
    node = word ?? node?.other;
  }
  return form;
}

const partsOf = (path: string): readonly string[] => path.split('/').filter((part) => part !== '');
