/** Resolves when all that waits for the event loop had its turn: for long work, step by step. */
export const othersRan = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
