import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { exact } from '../../api/long-numbers.ts';
import { apiPaths } from '../../api/paths.ts';
import type { Device, User } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { alertsOf } from '../../state/list-pages.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Fold } from '../../ui/fold.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { saveFile } from '../../ui/save-file.ts';

const pageDevices = 1_000;
/** Of an account with more, the rest is for the command line. */
const pagesMax = 50;

/** Taking everything along, and leaving. */
export function AccountEnd({ user }: { readonly user: User }): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  return (
    <>
      <Fold title={t('profile.take')}>
        <p class="quiet">{t('profile.takeText')}</p>
        <button
          type="button"
          class="button tiles-add"
          disabled={action.isBusy}
          onClick={() => void action.run(() => takeOut(user))}
        >
          <Icon name="download" />
          {action.isBusy ? t('profile.taking') : t('profile.takeDo')}
        </button>
        <FormError text={action.error} />
      </Fold>
      <button type="button" class="button button-danger tiles-add" onClick={() => setAsking(true)}>
        <Icon name="trash" />
        {t('profile.delete')}
      </button>
      {isAsking && <DeleteDialog user={user} onClose={() => setAsking(false)} />}
    </>
  );
}

async function takeOut(user: User): Promise<void> {
  const devices: Device[] = [];
  for (let page = 0; page < pagesMax; page += 1) {
    const query = {
      q: `owner=='${user.username}'`,
      limit: pageDevices,
      offset: page * pageDevices,
    };
    const { items, total } = await api.getPage<Device>({ path: '/devices', query });
    devices.push(...items);
    if (items.length === 0 || devices.length >= total) break;
  }
  const [keys, sharing, notifications] = await Promise.all([
    api.getJson<unknown>({ path: '/auth/keys' }),
    api.getJson<unknown>({ path: '/users/me/grants' }),
    // A service without alerts has none to take along.
    api.getJson<unknown>({ path: apiPaths.alerts, query: alertsOf(user.username) }).catch(() => []),
  ]);
  const text = exact.json({ profile: user, devices, notifications, keys, sharing }, null, 2);
  saveFile(`kipimo-${user.username}.json`, new Blob([text], { type: 'application/json' }));
}

function DeleteDialog({
  user,
  onClose,
}: {
  readonly user: User;
  readonly onClose: () => void;
}): JSX.Element {
  const [typed, setTyped] = useState('');
  const action = useAction();
  const { route } = useLocation();
  async function remove(event: Event): Promise<void> {
    event.preventDefault();
    if (typed.trim() !== user.username) return;
    const path = `/users/${encodeURIComponent(user.id)}`;
    if (!(await action.run(() => api.send({ method: 'DELETE', path })))) return;
    await api.logOut();
    showToast(t('profile.deleted'));
    route('/', true);
  }
  return (
    <Dialog title={t('profile.delete')} onClose={onClose}>
      <form class="form" onSubmit={remove} noValidate>
        <p>{t('profile.deleteText', { name: user.username })}</p>
        <TextField
          label={t('profile.deleteConfirm')}
          autocapitalize="none"
          autocomplete="off"
          value={typed}
          onValue={setTyped}
        />
        <FormError text={action.error} />
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
          <button
            type="submit"
            class="button button-danger"
            disabled={action.isBusy || typed.trim() !== user.username}
          >
            {t('profile.delete')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
