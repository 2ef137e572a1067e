import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { channelWord } from '../alerts/words.ts';
import type { ChannelName } from '../api/alert-types.ts';
import { t } from '../i18n/i18n.ts';
import { ofService } from '../i18n/refusals.ts';
import { useAction } from '../state/action.ts';
import { api } from '../state/session.ts';
import { FormError } from './form-error.tsx';

/** Sends a test message to oneself by a channel, and says what became of it. */
export function TestMessage({ channel }: { readonly channel: ChannelName }): JSX.Element {
  const [outcome, setOutcome] = useState<{ status: string; reason?: string }>();
  const action = useAction();
  async function sendTest(): Promise<void> {
    setOutcome(undefined);
    await action.run(async () => {
      const path = `/users/me/channels/${channel}/test`;
      setOutcome(await api.getJson({ method: 'POST', path }));
    });
  }
  return (
    <>
      <div class="row">
        <button
          type="button"
          class="button button-quiet"
          disabled={action.isBusy}
          onClick={() => void sendTest()}
        >
          {t('alerts.sendTest', { channel: channelWord(channel, t) })}
        </button>
        {outcome !== undefined && (
          <span role="status" class={outcome.status === 'sent' ? undefined : 'field-error'}>
            {outcome.status === 'sent'
              ? t('alerts.testSent')
              : t('alerts.testFailed', { reason: ofService(outcome.reason ?? '') })}
          </span>
        )}
      </div>
      <FormError text={action.error} />
    </>
  );
}
