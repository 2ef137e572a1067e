import type { Channel, Outcome } from '../domain/notifications/channel.ts';
import type { Log } from '../lib/log.ts';
import { createSemaphore, TooManyWaitingError } from '../lib/scheduling/semaphore.ts';
import { channelLimits } from './limits.ts';
import { retry } from './outcome.ts';

/** A channel that keeps its promises whatever the one inside does: bounded, and never throws. */
export function guardChannel(
  channel: Channel,
  options: {
    readonly name: string;
    readonly timeoutMs: number;
    readonly parallelMax?: number;
    readonly log: Log;
  },
): Channel {
  const { name, timeoutMs, parallelMax = channelLimits.parallelMax, log } = options;
  const places = createSemaphore({ parallelMax, waitingMax: channelLimits.waitingMax });

  return {
    ...channel,
    async send(message, signal) {
      try {
        return await places.run('', () => {
          if (signal.aborted) return Promise.resolve(retry('the service is stopping'));
          const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
          return Promise.race([channel.send(message, deadline), endOf(deadline, signal)]);
        });
      } catch (error) {
        if (error instanceof TooManyWaitingError) return retry('too many messages are under way');
        // A bug of ours or of a package. Its text may hold an address or a secret: only its kind.
        const kind = error instanceof Error ? error.name : typeof error;
        log.error({ channel: name, deliveryId: message.deliveryId, kind }, 'a channel failed');
        return retry('the channel has a fault; the administrator finds it in the log');
      }
    },
  };
}

/** For channels that overlook the signal: the wait ends shortly after it all the same. */
function endOf(deadline: AbortSignal, stop: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    const end = () => {
      // The channel itself knows better what was not answered: it goes first.
      setImmediate(() => setImmediate(() => resolve(endedBy(stop))));
    };
    deadline.addEventListener('abort', end, { once: true });
  });
}

function endedBy(stop: AbortSignal): Outcome {
  return retry(stop.aborted ? 'the service is stopping' : 'there was no answer in time');
}
