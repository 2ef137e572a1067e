/** An answer of an engine: at once, or awaited. */
export type Answered<Answer> = Answer | Promise<Answer>;
/** Work on what an engine stores; each step waits for what it yields. Both engines run the same. */
export type EngineWork<Result> = Generator<unknown, Result, unknown>;

/** Waits for an answer of the engine. */
export function* answerOf<Answer>(asked: Answered<Answer>): EngineWork<Answer> {
  // The runner of the work hands the yielded answer back, awaited.
  return (yield asked) as Answer;
}

/** Runs work on an engine that answers at once. */
export function runAtOnce<Result>(work: EngineWork<Result>): Result {
  let step = work.next();
  while (step.done !== true) step = work.next(step.value);
  return step.value;
}

/** Runs work on an engine whose answers are awaited. */
export async function runAwaiting<Result>(work: EngineWork<Result>): Promise<Result> {
  let step = work.next();
  while (step.done !== true) step = work.next(await step.value);
  return step.value;
}
