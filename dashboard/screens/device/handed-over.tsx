import type { JSX } from 'preact';
import { apiPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { FormError } from '../../ui/form-error.tsx';

/** Asks the receiver of a device to accept it, and its owner whether to keep it after all. */
export function HandedOver(props: {
  readonly device: Device;
  readonly onDone: () => void;
}): JSX.Element {
  const { device, onDone } = props;
  const action = useAction();
  const isOwner = device.owner === username.value;
  async function decide(): Promise<void> {
    const base = apiPaths.device(device.id);
    const path = isOwner ? `${base}/owner` : `${base}/accept`;
    const body = isOwner ? { body: device.owner } : {};
    if (!(await action.run(() => api.send({ method: 'PUT', path, ...body })))) return;
    showToast(t(isOwner ? 'device.kept' : 'device.accepted'));
    onDone();
  }
  return (
    <div class="note stack-tight">
      <p>{t(isOwner ? 'device.offered' : 'device.handedOver')}</p>
      <div class="row">
        <button type="button" class="button button-main" disabled={action.isBusy} onClick={decide}>
          {t(isOwner ? 'device.keep' : 'device.accept')}
        </button>
      </div>
      <FormError text={action.error} />
    </div>
  );
}
