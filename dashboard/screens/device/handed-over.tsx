import type { JSX } from 'preact';
import { apiPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { FormError } from '../../ui/form-error.tsx';

/** Asks the new owner of a device whether alerts for all devices shall watch it, too. */
export function HandedOver(props: {
  readonly device: Device;
  readonly onAccepted: () => void;
}): JSX.Element {
  const { device, onAccepted } = props;
  const action = useAction();
  async function accept(): Promise<void> {
    const path = `${apiPaths.device(device.id)}/accept`;
    if (!(await action.run(() => api.send({ method: 'PUT', path })))) return;
    showToast(t('device.accepted'));
    onAccepted();
  }
  return (
    <div class="note stack-tight">
      <p>{t('device.handedOver')}</p>
      <div class="row">
        <button type="button" class="button button-main" disabled={action.isBusy} onClick={accept}>
          {t('device.accept')}
        </button>
      </div>
      <FormError text={action.error} />
    </div>
  );
}
