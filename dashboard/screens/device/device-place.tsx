import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { apiPaths } from '../../api/paths.ts';
import type { Device, Location } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { PickLocation } from '../../map/lazy-map.tsx';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { FormError } from '../../ui/form-error.tsx';
import { DevicesMap } from '../map/devices-map.tsx';

const mapHeightPx = 240;

/** Where a device stands; set by a tap on the map, by coordinates, or by where the phone is. */
export function DevicePlace(props: {
  readonly device: Device;
  readonly mayChange: boolean;
  readonly onChange: () => void;
}): JSX.Element | null {
  const { device, mayChange, onChange } = props;
  const [isEditing, setEditing] = useState(false);
  const { location } = device;
  const devices = useMemo(() => [device], [device]);
  if (location === undefined && !mayChange) return null;
  return (
    <section class="stack-tight" aria-labelledby="place">
      <h2 id="place">{t('device.place')}</h2>
      {isEditing ? (
        <PlaceEditor
          device={device}
          onClose={() => setEditing(false)}
          onSaved={() => {
            setEditing(false);
            onChange();
          }}
        />
      ) : (
        <>
          {location === undefined ? (
            <p class="quiet">{t('device.noPlace')}</p>
          ) : (
            <DevicesMap devices={devices} heightPx={mapHeightPx} />
          )}
          {mayChange && (
            <button
              type="button"
              class="button button-quiet tiles-add"
              onClick={() => setEditing(true)}
            >
              {t(location === undefined ? 'device.setPlace' : 'device.changePlace')}
            </button>
          )}
        </>
      )}
    </section>
  );
}

function PlaceEditor(props: {
  readonly device: Device;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}): JSX.Element {
  const { device, onClose, onSaved } = props;
  const [picked, setPicked] = useState<Location | undefined>(device.location);
  const action = useAction();
  async function save(): Promise<void> {
    if (picked === undefined) return;
    const path = `${apiPaths.device(device.id)}/location`;
    if (!(await action.run(() => api.send({ method: 'PUT', path, json: picked })))) return;
    showToast(t('device.placeSaved'));
    onSaved();
  }
  return (
    <div class="surface stack">
      <PickLocation value={picked} onChange={setPicked} />
      <FormError text={action.error} />
      <div class="row">
        <button
          type="button"
          class="button button-main"
          disabled={action.isBusy || picked === undefined}
          onClick={() => void save()}
        >
          {t('common.save')}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {t('common.cancel')}
        </button>
      </div>
    </div>
  );
}
