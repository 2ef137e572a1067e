// Loaded before the program by `scripts/walks.ts`, in each thread: answers at the socket that
// WALK_SOCKET names which functions of the sources were entered since it was last asked.
import { createServer } from 'node:http';
import { Session } from 'node:inspector';
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
  else if (data === 'take') channel.postMessage(take());
};
// The program ends when all that it does has ended.
channel.unref();
if (isMainThread) {
  const server = createServer((_request, response) => {
    taken = [take()];
    channel.postMessage('take');
    setTimeout(() => response.end(JSON.stringify(taken)), answerMs);
  });
  server.listen(process.env['WALK_SOCKET']).unref();
}
