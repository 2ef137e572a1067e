import type { Channel } from '../../../src/domain/notifications/channel.ts';
import type { OpenedChannel } from './channel-contract.ts';
import { type Behaviour, type StubAnswer, startHttpStub } from './http-stub.ts';

/** Opens a channel against a stub; for `is-absent` the stub has left before. */
export async function openHttpChannel(options: {
  readonly behaviour: Behaviour | 'is-absent';
  readonly accepts: StubAnswer;
  readonly refuses: StubAnswer;
  readonly open: (url: string) => Promise<Channel & { close?(): void }>;
}): Promise<OpenedChannel> {
  const { behaviour, accepts, refuses, open } = options;
  const stub = await startHttpStub({
    behaviour: behaviour === 'is-absent' ? 'accepts' : behaviour,
    answer: (_request, asked) => (asked === 'accepts' ? accepts : refuses),
  });
  if (behaviour === 'is-absent') await stub[Symbol.asyncDispose]();
  const channel = await open(stub.url);
  return {
    channel,
    received: () => stub.requests.length,
    nextReceived: () => stub.nextRequest(),
    bytesTaken: () => stub.bytesTaken(),
    async [Symbol.asyncDispose]() {
      channel.close?.();
      if (behaviour !== 'is-absent') await stub[Symbol.asyncDispose]();
    },
  };
}
