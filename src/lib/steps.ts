/**
 * Steps of a long read, each made when it is asked for. A generator that waits at `yield` keeps
 * what it yielded last; these keep nothing, however slow their reader is.
 */
export type Steps<Step> = AsyncIterableIterator<Step, undefined>;

/**
 * The steps that `make` makes, until it makes undefined. They are asked for one after the other;
 * `end` is called once, at their end or when the reader has enough.
 */
export function stepsOf<Step>(
  make: () => Promise<Step | undefined>,
  end: () => Promise<void> | undefined = () => undefined,
): Steps<Step> {
  let isDone = false;

  async function finish(): Promise<{ done: true; value: undefined }> {
    if (!isDone) {
      isDone = true;
      await end();
    }
    return { done: true, value: undefined };
  }

  return {
    async next() {
      if (isDone) return { done: true, value: undefined };
      try {
        const value = await make();
        return value === undefined ? finish() : { done: false, value };
      } catch (error) {
        await finish();
        throw error;
      }
    },
    return: finish,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** The only step of a read. */
export async function* inOneStep<Step>(step: Step): AsyncGenerator<Step, undefined> {
  yield step;
}

/** The steps of a walk, each converted. */
export function mapSteps<From, To>(steps: AsyncIterable<From>, map: (step: From) => To): Steps<To> {
  const source = steps[Symbol.asyncIterator]();
  return stepsOf(
    async () => {
      const { done, value } = await source.next();
      return done === true ? undefined : map(value);
    },
    async () => void (await source.return?.()),
  );
}
