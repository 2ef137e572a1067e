import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { User } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { CopyBlock } from '../../ui/copy-block.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { TestMessage } from '../../ui/test-message.tsx';

/** Where messages are posted as JSON, what signs them, and a test. */
export function Webhook(props: { readonly user: User; readonly onSaved: () => void }): JSX.Element {
  const { user, onSaved } = props;
  const [url, setUrl] = useState(user.webhook?.[0] ?? '');
  const [secret, setSecret] = useState<string>();
  const action = useAction();
  const hasWebhook = (user.webhook?.length ?? 0) > 0;
  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const text = url.trim();
    const json = { webhook: text === '' ? null : [text, ...(user.webhook?.slice(1) ?? [])] };
    if (!(await action.run(() => api.send({ method: 'PUT', path: '/users/me', json })))) return;
    showToast(t('profile.saved'));
    onSaved();
  }
  async function showSecret(): Promise<void> {
    await action.run(async () => {
      setSecret(await api.getJson<string>({ path: '/users/me/webhook_secret' }));
    });
  }
  return (
    <form class="form" onSubmit={save} noValidate>
      <p class="quiet">{t('profile.webhookText')}</p>
      <TextField
        label={t('profile.webhookUrl')}
        type="url"
        value={url}
        onValue={setUrl}
        isOptional
      />
      <FormError text={action.error} />
      <div class="row">
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          {t('common.save')}
        </button>
        {hasWebhook && secret === undefined && (
          <button
            type="button"
            class="button"
            disabled={action.isBusy}
            onClick={() => void showSecret()}
          >
            {t('profile.webhookSecret')}
          </button>
        )}
      </div>
      {secret !== undefined && <CopyBlock text={secret} label={t('profile.webhookSecret')} />}
      {hasWebhook && <TestMessage channel="webhook" />}
    </form>
  );
}
