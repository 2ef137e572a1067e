import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { errorSentence } from '../../api/error-sentence.ts';
import { apiPaths } from '../../api/paths.ts';
import type { ImportedUser, User } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { creditOf } from './user-words.ts';

const changes = ['passwords', 'credit', 'lock', 'unlock', 'deleteSeveral'] as const;
type Change = (typeof changes)[number];

/** Accounts that are changed at a time. */
const parallelMax = 4;

interface SeveralProps {
  readonly people: readonly User[];
  /** Called when all were tried, with the slips of those who have a new password. */
  readonly onDone: (slips: readonly ImportedUser[]) => void;
}

/** Changes several accounts at once, each by a request of its own. */
export function SeveralUsers({ people, onDone }: SeveralProps): JSX.Element {
  const [change, setChange] = useState<Change>('passwords');
  const [isAsking, setAsking] = useState(false);
  return (
    <div class="several-users">
      <SelectField
        label={t('users.several', { count: people.length })}
        value={change}
        options={changes.map((one) => ({ value: one, label: t(`users.${one}`) }))}
        onValue={setChange}
      />
      <button type="button" class="button button-main" onClick={() => setAsking(true)}>
        {t('users.severalGo')}
      </button>
      {isAsking && (
        <ChangeDialog
          change={change}
          people={people}
          onDone={(slips) => {
            setAsking(false);
            onDone(slips);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}

/** Says what will happen to how many, and does it. */
function ChangeDialog(
  props: SeveralProps & { readonly change: Change; readonly onClose: () => void },
): JSX.Element {
  const { change, people, onDone, onClose } = props;
  const [credit, setCredit] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [done, setDone] = useState(0);
  const [failures, setFailures] = useState<readonly string[]>([]);
  const [slips, setSlips] = useState<readonly ImportedUser[]>([]);
  const [error, setError] = useState<string>();
  const count = people.length;
  const devices = people.reduce((sum, user) => sum + (user.devices ?? 0), 0);

  async function send(event: Event): Promise<void> {
    event.preventDefault();
    const left = creditOf(credit);
    if (change === 'credit' && left === undefined) return setError(t('users.creditBad'));
    setBusy(true);
    const outcome = await changeAll(change, people, left, () => setDone((before) => before + 1));
    if (outcome.failures.length === 0) {
      showToast(t('users.severalDone', { count }));
      return onDone(outcome.slips);
    }
    setSlips(outcome.slips);
    setFailures(outcome.failures);
    setBusy(false);
  }

  if (failures.length > 0) {
    const changed = count - failures.length;
    const close = () => onDone(slips);
    return <Failures {...{ title: t(`users.${change}`), changed, failures, onClose: close }} />;
  }
  const isHard = change === 'deleteSeveral' || change === 'lock';
  return (
    <Dialog title={t(`users.${change}`)} onClose={() => !isBusy && onClose()}>
      <form class="form" onSubmit={send} noValidate>
        <p>{t(`users.${change}Text`, { count })}</p>
        {change === 'deleteSeveral' && devices > 0 && (
          <p>
            <strong>{t('users.deleteDevices', { count: devices })}</strong>
          </p>
        )}
        {change === 'credit' && (
          <TextField
            label={t('users.credit')}
            hint={t('users.creditHint')}
            inputMode="numeric"
            autocomplete="off"
            value={credit}
            onValue={setCredit}
          />
        )}
        <FormError text={error} />
        <p class="quiet" role="status">
          {isBusy && t('users.severalBusy', { done, count })}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" disabled={isBusy} onClick={onClose}>
            {t('common.cancel')}
          </button>
          <button
            type="submit"
            class={isHard ? 'button button-danger' : 'button button-main'}
            disabled={isBusy}
          >
            {t(`users.${change}Do`, { count })}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Says for whom it was not done, and why. */
function Failures(props: {
  readonly title: string;
  readonly changed: number;
  readonly failures: readonly string[];
  readonly onClose: () => void;
}): JSX.Element {
  const { title, changed, failures, onClose } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{t('users.severalDone', { count: changed })}</p>
      <ul class="plain-rows">
        {failures.map((failure) => (
          <li key={failure}>{failure}</li>
        ))}
      </ul>
      <div class="dialog-actions">
        <button type="button" class="button button-main" onClick={onClose}>
          {t('common.close')}
        </button>
      </div>
    </Dialog>
  );
}

interface Outcome {
  readonly slips: readonly ImportedUser[];
  /** A sentence for each account that was not changed. */
  readonly failures: readonly string[];
}

async function changeAll(
  change: Change,
  people: readonly User[],
  credit: number | 'unlimited' | undefined,
  onOne: () => void,
): Promise<Outcome> {
  const passwords = new Map<string, string>();
  const failures: string[] = [];
  const line = people.values();
  const work = async (): Promise<void> => {
    for (const user of line) {
      try {
        const password = await changeOne(change, user, credit);
        if (password !== undefined) passwords.set(user.id, password);
      } catch (failure) {
        failures.push(t('common.pair', { name: user.username, value: errorSentence(failure, t) }));
      }
      onOne();
    }
  };
  await Promise.all(Array.from({ length: parallelMax }, work));
  const slips = people.flatMap((user) => {
    const password = passwords.get(user.id);
    return password === undefined ? [] : [{ ...user, password }];
  });
  return { slips, failures };
}

/** Changes an account; answers its new password, where it has one. */
async function changeOne(
  change: Change,
  user: User,
  credit: number | 'unlimited' | undefined,
): Promise<string | undefined> {
  const path = apiPaths.user(user.id);
  if (change === 'passwords') {
    const call = { method: 'POST', path: `${path}/initial_password` } as const;
    return (await api.getJson<{ readonly password: string }>(call)).password;
  }
  if (change === 'credit') {
    await api.send({ method: 'PUT', path: `${path}/sms_credit`, json: credit });
  } else if (change === 'deleteSeveral') {
    await api.send({ method: 'DELETE', path });
  } else {
    await api.send({ method: 'PUT', path, json: { disabled: change === 'lock' } });
  }
  return undefined;
}
