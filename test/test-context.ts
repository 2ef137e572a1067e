// Loaded before each test file. To say which test a hook or an error belongs to, node:test watches
// every promise from its beginning to its collection, which takes a tenth to a quarter of what a
// file computes. Here it asks the asynchronous context instead, which follows the same calls and
// costs nothing by promise. One thing is told less well: an error at the service's end of a
// connection fails the file, not the one test. A runner without such a hook stays as it is.
import type { AsyncHook, HookCallbacks } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const load = createRequire(import.meta.url);

if (isMainThread) {
  const hooks: typeof import('node:async_hooks') = load('node:async_hooks');
  const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = hooks;
  const scope = new AsyncLocalStorage<number>();
  let begun: HookCallbacks['init'];

  /** The hook of the runner: it is told of tests alone. */
  function createHookOfTests(callbacks: HookCallbacks): AsyncHook {
    if (begun !== undefined || callbacks.init === undefined) return createHook(callbacks);
    begun = callbacks.init;
    // Enabled, even a hook without callbacks would watch promises.
    const unwatching = createHook({});
    return Object.assign(unwatching, { enable: () => unwatching });
  }

  /** A test is one of these; what runs in it has its number as context. */
  class Scope extends AsyncResource {
    constructor(...given: ConstructorParameters<typeof AsyncResource>) {
      super(...given);
      begun?.(this.asyncId(), given[0], this.triggerAsyncId(), this);
    }

    override runInAsyncScope<This, Result, Given extends unknown[]>(
      run: (this: This, ...given: Given) => Result,
      self?: This,
      ...given: Given
    ): Result {
      const inScope = () => scope.run(this.asyncId(), () => Reflect.apply(run, self, given));
      return super.runInAsyncScope(inScope);
    }
  }

  Object.assign(hooks, {
    AsyncResource: Scope,
    createHook: createHookOfTests,
    executionAsyncId: () => scope.getStore() ?? executionAsyncId(),
  });
  // The runner takes them as it is loaded; afterwards they are Node's own again.
  load('node:test');
  Object.assign(hooks, { AsyncResource, createHook, executionAsyncId });
}
