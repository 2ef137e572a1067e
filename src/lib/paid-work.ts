import { AsyncLocalStorage } from 'node:async_hooks';
import { type Steps, stepsOf } from './steps.ts';

const payers = new AsyncLocalStorage<string>();

let isKept = false;

/** Makes `currentPayer` answer from now on. Until then no request takes the time for it. */
export const keepPayers = (): void => {
  isKept = true;
};

/** Runs work that this payer pays for, with all that it waits for on its way. */
export const paidBy = <Result>(payer: string, work: () => Result): Result =>
  isKept ? payers.run(payer, work) : work();

/** The payer of the work under way; undefined: the service itself. */
export const currentPayer = (): string | undefined => payers.getStore();

/** Steps that this payer pays for, whichever code reads them. */
export function stepsPaidBy<Step>(payer: string, steps: AsyncIterable<Step>): Steps<Step> {
  const source = steps[Symbol.asyncIterator]();
  return stepsOf(
    async () => {
      const { done, value } = await paidBy(payer, () => source.next());
      return done === true ? undefined : value;
    },
    async () => void (await source.return?.()),
  );
}
