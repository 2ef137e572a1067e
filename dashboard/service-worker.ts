// Keeps the app itself for the time without network: its files are named by their content. Answers
// of the API are never kept here; screens remember what they need (state/last-known.ts).

declare const BUILD_FILES: readonly string[];

interface WorkerScope {
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(kind: 'install' | 'activate', listen: (event: LifeEvent) => void): void;
  addEventListener(kind: 'fetch', listen: (event: RequestEvent) => void): void;
}

interface LifeEvent {
  waitUntil(work: Promise<unknown>): void;
}

interface RequestEvent extends LifeEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

// The library of types for pages does not know the scope of a worker.
const worker = globalThis as unknown as WorkerScope;
const cacheName = `kipimo-${hash(BUILD_FILES.join())}`;

worker.addEventListener('install', (event) => {
  const shell = ['/', '/icon.svg', '/manifest.webmanifest', ...BUILD_FILES];
  event.waitUntil(
    caches
      .open(cacheName)
      .then((cache) => cache.addAll(shell))
      .then(() => worker.skipWaiting()),
  );
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names
            .filter((name) => name.startsWith('kipimo-') && name !== cacheName)
            .map((name) => caches.delete(name)),
        ),
      )
      .then(() => worker.clients.claim()),
  );
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { pathname, origin } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate') {
    if (!isServed(pathname)) event.respondWith(pageOf(request));
    return;
  }
  if (pathname.startsWith('/assets/')) event.respondWith(fromCacheFirst(request));
});

/** Addresses that are the service's own, not a screen's. */
function isServed(pathname: string): boolean {
  return /^\/(api|docs|guides|healthz|readyz|metrics|websocket|mqtt|update)(\/|$)/.test(pathname);
}

async function pageOf(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (failure) {
    const kept = await caches.match('/');
    if (kept === undefined) throw failure;
    return kept;
  }
}

/** A file is named by its content, so what is kept is right; what is fetched is kept. */
async function fromCacheFirst(request: Request): Promise<Response> {
  const kept = await caches.match(request);
  if (kept !== undefined) return kept;
  const answer = await fetch(request);
  if (answer.ok) {
    const cache = await caches.open(cacheName);
    await cache.put(request, answer.clone()).catch(() => undefined);
  }
  return answer;
}

function hash(text: string): string {
  let sum = 0;
  for (const char of text) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) >>> 0;
  return sum.toString(36);
}
