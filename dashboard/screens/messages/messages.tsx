import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { channelWord } from '../../alerts/words.ts';
import type { Page } from '../../api/client.ts';
import { apiPaths } from '../../api/paths.ts';
import type { Social } from '../../api/social-types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { type Resource, useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { Age } from '../../ui/age.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { ErrorBox } from '../../ui/error-box.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ChannelChoice } from '../alerts/channel-choice.tsx';
import { Recipients } from '../alerts/recipients.tsx';

const pageMessages = 100;

/** Messages between people: what one received and sent, and a new one. */
export function Messages(): JSX.Element {
  const [box, setBox] = useState<'in' | 'out'>('in');
  const [isWriting, setWriting] = useState(false);
  const user = username.value ?? '';
  const messages = useResource(`messages ${user}`, (signal) => loadNewest(signal));
  const { value, error, reload } = messages;
  const shown = (value?.items ?? []).filter(({ from, username: to }) =>
    box === 'in' ? to === user : from === user,
  );
  return (
    <div class="stack profile">
      <header class="screen-head">
        <h1>{t('messages.title')}</h1>
        <button type="button" class="button button-main" onClick={() => setWriting(!isWriting)}>
          <Icon name={isWriting ? 'close' : 'plus'} />
          {t(isWriting ? 'common.cancel' : 'messages.write')}
        </button>
      </header>
      {isWriting && (
        <MessageForm
          onSent={() => {
            setWriting(false);
            setBox('out');
            reload();
          }}
        />
      )}
      <div class="segments">
        {(['in', 'out'] as const).map((side) => (
          <button
            key={side}
            type="button"
            class="segment"
            aria-pressed={box === side}
            onClick={() => setBox(side)}
          >
            {t(`messages.${side}`)}
          </button>
        ))}
      </div>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={160} />}
      {value !== undefined && shown.length === 0 && (
        <p class="empty quiet">{t(`messages.none-${box}`)}</p>
      )}
      {shown.length > 0 && (
        <ul class="menu alert-events">
          {shown.map((social) => (
            <li key={social.id}>
              <MessageLine social={social} messages={messages} />
            </li>
          ))}
        </ul>
      )}
      {value !== undefined && value.total > value.items.length && (
        <p class="quiet small">{t('messages.newest', { count: value.items.length })}</p>
      )}
    </div>
  );
}

/** The service lists the oldest first, so the last page has the newest. */
async function loadNewest(signal: AbortSignal): Promise<Page<Social>> {
  const page = (offset: number): Promise<Page<Social>> =>
    api.getPage<Social>({ path: apiPaths.socials, query: { limit: pageMessages, offset }, signal });
  const first = await page(0);
  const isAll = first.total <= first.items.length;
  const { items, total } = isAll ? first : await page(first.total - pageMessages);
  return { items: [...items].reverse(), total };
}

function MessageLine(props: {
  readonly social: Social;
  readonly messages: Resource<Page<Social>>;
}): JSX.Element {
  const { social, messages } = props;
  const { id, from, channel, message, status, reason, created } = social;
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const isOwn = from === username.value;
  const by = channel === 'none' ? t('messages.keptOnly') : channelWord(channel, t);
  async function remove(): Promise<void> {
    const path = apiPaths.social(id);
    const isDone = await action.run(() => api.send({ method: 'DELETE', path }));
    setAsking(false);
    if (!isDone) return;
    showToast(t('messages.deleted'));
    messages.reload();
  }
  return (
    <div class="stack-tight">
      <span class="row row-apart">
        <strong>{isOwn ? t('messages.toWhom', { name: social.username }) : from}</strong>
        <span class="quiet small">
          {by} · <Age at={Date.parse(created)} />
        </span>
      </span>
      <span class="quote">{message}</span>
      {isOwn && (
        <span class="row row-apart">
          <span class={`delivery-state is-${status}`}>
            {channel !== 'none' && t(`alerts.delivery-${status}`)}
          </span>
          <button type="button" class="button button-quiet" onClick={() => setAsking(true)}>
            {t('common.delete')}
          </button>
        </span>
      )}
      {reason !== undefined && <span class="field-error">{reason}</span>}
      <FormError text={action.error} />
      {isAsking && (
        <ConfirmDialog
          title={t('messages.delete')}
          text={t('messages.deleteText')}
          action={t('common.delete')}
          isBusy={action.isBusy}
          onConfirm={() => void remove()}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}

const messageCharactersMax = 4_096;

function MessageForm({ onSent }: { readonly onSent: () => void }): JSX.Element {
  const [usernames, setUsernames] = useState<readonly string[]>([]);
  const [channels, setChannels] = useState<readonly string[]>([]);
  const [message, setMessage] = useState('');
  const action = useAction();
  async function send(event: Event): Promise<void> {
    event.preventDefault();
    if (usernames.length === 0) return action.fail(t('alerts.gap-usernames'));
    if (message.trim() === '') return action.fail(t('alerts.gap-message'));
    // Without a way to send it, it is kept for the other to read here.
    const json = { usernames, message, channels: channels.length === 0 ? ['none'] : channels };
    const path = `${apiPaths.socials}/batch`;
    if (!(await action.run(() => api.send({ method: 'POST', path, json })))) return;
    showToast(t('messages.sent'));
    onSent();
  }
  return (
    <form class="surface stack-tight" onSubmit={send} noValidate>
      <p class="form-label">{t('messages.recipients')}</p>
      <Recipients chosen={usernames} onChosen={setUsernames} />
      <label class="form-label" for="message-text">
        {t('messages.text')}
      </label>
      <textarea
        id="message-text"
        class="input"
        maxLength={messageCharactersMax}
        value={message}
        onInput={({ currentTarget }) => setMessage(currentTarget.value)}
      />
      <p class="form-label">{t('messages.also')}</p>
      <ChannelChoice
        chosen={channels}
        isToMe={usernames.includes(username.value ?? '')}
        onChosen={setChannels}
      />
      <FormError text={action.error} />
      <div class="row">
        <button type="submit" class="button button-main" disabled={action.isBusy}>
          {t('messages.send')}
        </button>
      </div>
    </form>
  );
}
