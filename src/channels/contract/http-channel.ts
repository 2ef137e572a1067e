import type { Channel } from '../../domain/notifications/channel.ts';
import type { OpenedChannel } from './channel-contract.ts';
import { type Behaviour, type StandInAnswer, startHttpStandIn } from './http-stand-in.ts';

/** Opens a channel against a stand-in; for `is-absent` the stand-in has left before. */
export async function openHttpChannel(options: {
  readonly behaviour: Behaviour | 'is-absent';
  readonly accepts: StandInAnswer;
  readonly refuses: StandInAnswer;
  readonly open: (url: string) => Promise<Channel & { close?(): void }>;
}): Promise<OpenedChannel> {
  const { behaviour, accepts, refuses, open } = options;
  const standIn = await startHttpStandIn({
    behaviour: behaviour === 'is-absent' ? 'accepts' : behaviour,
    answer: (_request, asked) => (asked === 'accepts' ? accepts : refuses),
  });
  if (behaviour === 'is-absent') await standIn[Symbol.asyncDispose]();
  const channel = await open(standIn.url);
  return {
    channel,
    received: () => standIn.requests.length,
    nextReceived: () => standIn.nextRequest(),
    bytesTaken: () => standIn.bytesTaken(),
    async [Symbol.asyncDispose]() {
      channel.close?.();
      if (behaviour !== 'is-absent') await standIn[Symbol.asyncDispose]();
    },
  };
}
