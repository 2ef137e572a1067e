const second = 1_000;
const minute = 60 * second;

/** Every limit of the channels, with its unit in its name and its reason beside it. */
export const channelLimits = {
  /** From the first byte out to the last byte in; providers that need longer are broken. */
  providerMs: 15 * second,
  /** A mail server may think about a message for long [RFC 5321 4.5.3.2]; not this long. */
  emailMs: 30 * second,
  /** An own receiver answers at once and works afterwards. */
  webhookMs: 5 * second,
  /** Bytes that are read of a provider's answer; theirs have a few hundred. */
  answerBytesMax: 65_536,
  /** Messages of one channel under way at a time. */
  parallelMax: 16,
  /** Codes among them: half, so that alerts never wait behind codes that strangers ask for. */
  codesAtOnceMax: 8,
  /** Codes of one channel that wait; of one network that asks half of them at most. */
  codesWaitingMax: 2_000,
  /** An own receiver beside us takes more; one process may have many receivers. */
  webhookParallelMax: 64,
  /** Messages queued for one of those slots; beyond it they are to come back later. */
  waitingMax: 1_000,
  /** The longest pause that a provider may ask for. */
  pauseMsMax: 60 * minute,
  /** Idle connections kept to a provider. */
  idleSocketsMax: 8,
  idleSocketMs: 4 * second,

  /** Parts of one text message; a phone joins no more reliably, and each part costs. */
  smsPartsMax: 6,
  /** About two minutes of speech. */
  voiceCharactersMax: 1_600,
  /** A call's instructions, escaped, as Twilio takes them. */
  twimlCharactersMax: 4_000,
  /** How long the text of a call waits for an answer to the call. */
  callMs: 5 * minute,

  /** A direct message of X. */
  directMessageCharactersMax: 10_000,
  /** Accounts of X whose ids are remembered: each look-up costs the operator. */
  twitterIdsMax: 1_000,
  twitterIdMs: 24 * 60 * minute,

  /** SMPP: a session that receives nothing for this long asks whether the other side lives. */
  smppEnquireMs: 30 * second,
  smppResponseMs: 10 * second,
  smppConnectMs: 10 * second,
  smppUnbindMs: 1 * second,
  /** Answers of a message centre that no request waits for, before it is left. */
  smppStraysMax: 16,
  /** Parts submitted and not yet answered. */
  smppWindowMax: 10,
  /** All parts of one message, the log-in included. */
  smppMs: 45 * second,

  /** A reason shown to users: a sentence, not a page. */
  reasonCharactersMax: 200,
} as const;
