import type { Username } from '../ids.ts';

/** The channels that codes are sent through. */
export type CodeChannel = 'email' | 'sms' | 'voice';

/** A message with a code, to one address of a user. */
export interface CodeMessage {
  readonly channel: CodeChannel;
  readonly username: Username;
  readonly address: string;
  readonly text: string;
  /** Network that asked for it: codes wait in a fair queue of networks. */
  readonly askedFrom: string;
}

/** Sends codes that people wait for. */
export interface CodeSender {
  /** The channels that are configured. */
  readonly channels: ReadonlySet<CodeChannel>;
  /** Resolves when the message left, or never will. */
  send(message: CodeMessage): Promise<void>;
}
