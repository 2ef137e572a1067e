import type { OpenChannels } from '../../src/channels/index.ts';
import type { Channel, ChannelMessage, Outcome } from '../../src/domain/notifications/channel.ts';

/** What was handed to a channel. */
export interface Recorded {
  readonly channel: string;
  readonly username: string;
  readonly text: string;
  readonly message: ChannelMessage;
}

/** Channels that keep what they are given, and answer as the test says. */
export interface RecordingChannels {
  readonly open: OpenChannels;
  readonly sent: readonly Recorded[];
  /** Resolves when so many messages were handed over. */
  until(count: number): Promise<void>;
  /** What the next tries are answered with; the last one stays. */
  answer(...outcomes: readonly Outcome[]): void;
}

export function createRecordingChannels(
  names: readonly ('sms' | 'voice' | 'twitter' | 'email' | 'webhook')[] = ['sms', 'email'],
): RecordingChannels {
  const sent: Recorded[] = [];
  let outcomes: readonly Outcome[] = [{ kind: 'sent' }];
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const channelOf = (channel: string): Channel => ({
    async send(message) {
      sent.push({ channel, username: message.to.username, text: message.text, message });
      waiting = waiting.filter(({ count, resolve }) => {
        if (sent.length >= count) resolve();
        return sent.length < count;
      });
      const [outcome = { kind: 'sent' }, ...others] = outcomes;
      if (others.length > 0) outcomes = others;
      return outcome;
    },
  });
  return {
    open: {
      channels: new Map(names.map((name) => [name, channelOf(name)])),
      close: () => undefined,
    },
    sent,
    until: (count) =>
      new Promise((resolve) => {
        if (sent.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    answer: (...next) => {
      outcomes = next;
    },
  };
}
