import type { Message, MessageOrigin } from '../../domain/messaging/message.ts';
import type { CatchUp } from './session.ts';

/** The name by which a message of the log is remembered. */
export const nameOfFound = ({ writer, at }: MessageOrigin): string => `${writer} ${at}`;

/**
 * Whether a session that another process had has the message: from that process, or since it was
 * found in the log. Entries of other processes may be read here after that.
 */
export const isKnown = (
  { found, heard }: Pick<CatchUp, 'found' | 'heard'>,
  { origin }: Message,
): boolean =>
  origin !== undefined &&
  (origin.at <= (heard.get(origin.writer) ?? 0) || found.has(nameOfFound(origin)));
