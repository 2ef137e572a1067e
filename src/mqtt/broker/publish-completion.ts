import type { Message } from '../../domain/messaging/message.ts';
import type { PublishOutcome, PublishRefusal } from '../broker-hooks.ts';
import { reason } from '../packets/reason-codes.ts';
import type { Counters } from './counters.ts';
import type { RetainedMessages } from './retained.ts';
import type { Router } from './router.ts';

/** Completes a publish once the hooks have answered. */
export interface PublishCompletion {
  /**
   * Hands it on if the hooks leave that to the broker; answers the reason code for its sender. One
   * that was refused before the hooks were asked is not there any more.
   */
  finish(message: Message | undefined, outcome: PublishOutcome): number;
}

const refusalCodes: Readonly<Record<PublishRefusal, number>> = {
  not_authorized: reason.notAuthorized,
  payload_invalid: reason.payloadInvalid,
  topic_invalid: reason.topicInvalid,
  quota: reason.quotaExceeded,
};

export function createPublishCompletion(options: {
  readonly router: Router;
  readonly retained: RetainedMessages;
  readonly counters: Counters;
}): PublishCompletion {
  const { router, retained, counters } = options;
  return {
    finish(message, outcome) {
      if (outcome.kind === 'unavailable') return reason.unavailable;
      if (outcome.kind === 'refused') {
        counters.dropped.refused += 1;
        return refusalCodes[outcome.reason];
      }
      if (!outcome.isPassedOn || message === undefined) return reason.success;
      const isKept = !message.retain || retained.keep(message);
      const isHeard = router.route(message);
      if (!isKept) return reason.quotaExceeded;
      return isHeard ? reason.success : reason.noMatchingSubscribers;
    },
  };
}
