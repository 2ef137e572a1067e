import type { Message, MessageOrigin } from '../../domain/messaging/message.ts';

/** What a message of the log is remembered by. */
export const nameOfFound = ({ writer, at }: MessageOrigin): string => `${writer} ${at}`;

/** Whether the message was found in the log, so that it does not come again. */
export const wasFound = (found: ReadonlySet<string>, { origin }: Message): boolean =>
  origin !== undefined && found.has(nameOfFound(origin));
