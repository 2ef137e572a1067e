// Loaded before the program by `scripts/walks.ts`, in each thread: answers at the socket that
// WALK_SOCKET names which functions of the sources were entered since it was last asked. Between
// /begin and /take only those of the request are: timers that were set before it wait.
import { createServer } from 'node:http';
import { Session } from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/** The functions entered of each file, as `name@place`. */
export type Entered = Readonly<Record<string, readonly string[]>>;

/** Every thread answers in less. */
const answerMs = 100;
const sources = new URL('../src/', import.meta.url).href;
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Grows with each request that is followed; timers know in which they were set. */
let era = 0;
let isFollowing = false;

/** Sets a timer that waits once more where it is due in a request that it was set before. */
const behindRequests = (set: typeof setTimeout | typeof setInterval): typeof setTimeout =>
  // The parameters of both are the same.
  ((callback: (...given: unknown[]) => void, delayMs?: number, ...given: unknown[]) => {
    const setIn = era;
    const timer = set(() => {
      if (isFollowing && setIn !== era) timer.refresh();
      else callback(...given);
    }, delayMs);
    return timer;
  }) as unknown as typeof setTimeout;

globalThis.setTimeout = Object.assign(behindRequests(setTimeout), { ...setTimeout });
globalThis.setInterval = behindRequests(setInterval) as unknown as typeof setInterval;
Object.assign(timers, { setTimeout, setInterval });
syncBuiltinESMExports();

/** The functions that this thread entered since the last call. */
function take(): Entered {
  const entered: Record<string, string[]> = {};
  session.post('Profiler.takePreciseCoverage', (_error, answer) => {
    for (const { url, functions } of answer?.result ?? []) {
      if (!url.startsWith(sources)) continue;
      const names = functions.flatMap(({ functionName, ranges: [range] }) => {
        const isModule = range?.startOffset === 0 && functionName === '';
        return range?.count === 0 || isModule ? [] : [`${functionName}@${range?.startOffset}`];
      });
      if (names.length > 0) entered[url.slice(sources.length)] = names;
    }
  });
  return entered;
}

const channel = new BroadcastChannel('walks');
let taken: unknown[] = [];
channel.onmessage = (message) => {
  const { data } = message as { readonly data: unknown };
  if (isMainThread) taken.push(data);
  else channel.postMessage(carryOut(data));
};

/** Begins to follow a request, or ends it; answers what was entered until now. */
function carryOut(order: unknown): Entered {
  isFollowing = order === '/begin';
  if (isFollowing) era += 1;
  return take();
}
// The program ends when all that it does has ended.
channel.unref();
if (isMainThread) {
  const server = createServer(({ url }, response) => {
    taken = [carryOut(url)];
    channel.postMessage(url);
    setTimeout(() => response.end(JSON.stringify(taken)), answerMs);
  });
  server.listen(process.env['WALK_SOCKET']).unref();
}
