import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { ApiError } from '../../api/api-error.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { pageSettings } from '../../state/page-settings.ts';
import { api } from '../../state/session.ts';
import { readStayChoice } from '../../state/stay-choice.ts';
import { TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';

const passwordCharactersMin = 8;

/** A new password with a code from a mail; where no mail can be sent, whom to ask. */
export function Forgotten(): JSX.Element {
  const { query } = useLocation();
  const [name, setName] = useState(query['name'] ?? '');
  const [isSent, setSent] = useState(false);
  return (
    <div class="stack narrow">
      <h1>{t('welcome.forgottenTitle')}</h1>
      {isSent ? (
        <CodeForm name={name.trim()} onAgain={() => setSent(false)} />
      ) : (
        <NameForm name={name} onName={setName} onSent={() => setSent(true)} />
      )}
      <p>
        <a href="/login">{t('shell.login')}</a>
      </p>
    </div>
  );
}

function NameForm(props: {
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly onSent: () => void;
}): JSX.Element {
  const { name, onName, onSent } = props;
  const action = useAction();
  const [hasNoMail, setNoMail] = useState(false);
  async function ask(event: Event): Promise<void> {
    event.preventDefault();
    if (name.trim() === '') return action.fail(t('welcome.nameNeeded'));
    const json = { username: name.trim() };
    await action.run(async () => {
      try {
        await api.send({ method: 'POST', path: '/auth/reset', json });
        onSent();
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'unavailable') throw error;
        setNoMail(true);
      }
    });
  }
  if (hasNoMail) {
    return (
      <div class="note stack-tight">
        <p>{t('welcome.forgotten')}</p>
        <Contact />
      </div>
    );
  }
  return (
    <form class="form" onSubmit={ask} noValidate>
      <p class="quiet">{t('welcome.forgottenText')}</p>
      <TextField
        label={t('welcome.name')}
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        value={name}
        onValue={onName}
      />
      <FormError text={action.error} />
      <button type="submit" class="button button-main" disabled={action.isBusy}>
        {t('welcome.sendCode')}
      </button>
      <WithoutMail />
    </form>
  );
}

/** Whom to ask, where the service names somebody. */
function Contact(): JSX.Element | null {
  const { contact } = pageSettings();
  return contact === undefined ? null : (
    <p>
      <strong>{t('welcome.contact', { contact })}</strong>
    </p>
  );
}

/** What is left to those whose account has no address that a code could go to. */
function WithoutMail(): JSX.Element {
  return (
    <div class="note stack-tight">
      <p>{t('welcome.withoutMail')}</p>
      <Contact />
    </div>
  );
}

function CodeForm({
  name,
  onAgain,
}: {
  readonly name: string;
  readonly onAgain: () => void;
}): JSX.Element {
  const [code, setCode] = useState('');
  const [password, setPassword] = useState('');
  const { route } = useLocation();
  const action = useAction();
  async function confirm(event: Event): Promise<void> {
    event.preventDefault();
    if (password.length < passwordCharactersMin) return action.fail(t('welcome.passwordShort'));
    const json = { username: name, code: code.trim(), password };
    let isWrong = false;
    const isDone = await action.run(async () => {
      try {
        await api.send({ method: 'POST', path: '/auth/reset/confirm', json });
        await api.logIn(name, password, readStayChoice());
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
        isWrong = true;
      }
    });
    if (isWrong) action.fail(t('welcome.codeWrong'));
    else if (isDone) route('/', true);
  }
  return (
    <form class="form" onSubmit={confirm} noValidate>
      <p class="quiet">{t('welcome.codeSent')}</p>
      <TextField
        label={t('welcome.code')}
        autocomplete="one-time-code"
        autocapitalize="none"
        spellcheck={false}
        value={code}
        onValue={setCode}
      />
      <TextField
        label={t('profile.newPassword')}
        type="password"
        autocomplete="new-password"
        hint={t('welcome.passwordHint')}
        value={password}
        onValue={setPassword}
      />
      <FormError text={action.error} />
      <button type="submit" class="button button-main" disabled={action.isBusy}>
        {t('profile.changePassword')}
      </button>
      <button type="button" class="button button-quiet" onClick={onAgain}>
        {t('welcome.codeAgain')}
      </button>
      <WithoutMail />
    </form>
  );
}
