/** How long those who connect go before long work: as long as a slice of it lasts. */
const arrivalsMsMax = 5;

let waiting: (() => void)[] = [];
let hasArrival = false;
let arrivalsSince: number | undefined;

/**
 * Says that a connection was accepted. Node accepts one in each turn of the event loop: others may
 * wait behind it, and are let in one by one in turns without long work.
 */
export function noteArrival(): void {
  hasArrival = true;
}

/** Runs a piece of long work in a next turn of the event loop, behind those who connect. */
export function inNextTurn(piece: () => void): void {
  if (waiting.push(piece) === 1) setImmediate(runPieces);
}

function runPieces(): void {
  arrivalsSince = hasArrival ? (arrivalsSince ?? performance.now()) : undefined;
  hasArrival = false;
  if (arrivalsSince !== undefined && performance.now() - arrivalsSince < arrivalsMsMax) {
    setImmediate(runPieces);
    return;
  }
  arrivalsSince = undefined;
  const pieces = waiting;
  waiting = [];
  for (const piece of pieces) piece();
}

/** Others begin nothing in a turn of the event loop that has worked for so many milliseconds. */
export const turnMsMax = 8;

/** Node's own count of turns, which browsers lack. */
const loopTiming: { readonly uvMetricsInfo?: { readonly loopCount: number } } | undefined =
  Reflect.get(performance, 'nodeTiming');
let turn: number | undefined;
let turnBeganAt = 0;

/**
 * Milliseconds that this turn of the event loop has worked: since the first call after the sockets
 * were polled. All that many may cause at once reads this one clock, so that their budgets do not
 * add up. Before Node 20.18 and 22.8, which count no turns, it is always 0.
 */
export function turnMs(now = performance.now()): number {
  const count = loopTiming?.uvMetricsInfo?.loopCount;
  if (count !== turn) {
    turn = count;
    turnBeganAt = now;
  }
  return count === undefined ? 0 : now - turnBeganAt;
}

/** When the turn began that `turnMs` was asked about last. */
export const latestTurnAt = (): number => turnBeganAt;
/** Resolves when all work that waits for the event loop has run: for long work, step by step. */
export const yieldToEventLoop = (): Promise<void> => new Promise(inNextTurn);
/** Milliseconds of a step of long work; with a collection of garbage it is to be below 20. */
const stepMsMax = 3;

/** Between steps of long work: what to wait for once it ran long enough; undefined: go on. */
export function createBreather(): () => Promise<void> | undefined {
  let startedAt = performance.now();
  return () => {
    if (performance.now() - startedAt < stepMsMax) return undefined;
    return yieldToEventLoop().then(() => {
      startedAt = performance.now();
    });
  };
}

/** Runs work that yields after each step, and lets other work run in between. */
export async function runInSteps<Result>(work: Generator<void, Result>): Promise<Result> {
  const breathe = createBreather();
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value;
    const pause = breathe();
    if (pause !== undefined) await pause;
  }
}
