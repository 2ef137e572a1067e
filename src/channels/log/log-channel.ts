import type { Channel } from '../../domain/notifications/channel.ts';
import type { Log } from '../../lib/log.ts';

/**
 * For development: logs that a message was due, and counts it as sent. Neither the text nor the
 * address is logged, for both may be private.
 */
export function createLogChannel(parts: { readonly log: Log; readonly name: string }): Channel {
  const { log, name } = parts;
  return {
    async send({ deliveryId, to, text }) {
      const { username } = to;
      log.info(
        { channel: name, deliveryId, username, characters: text.length },
        'a message was due; the channel is set to log: and sends nothing',
      );
      return { kind: 'sent' };
    },
  };
}
