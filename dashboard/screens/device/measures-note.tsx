import type { JSX } from 'preact';
import { isUnsaid, type Measures } from '../../api/measures.ts';
import { apiPaths } from '../../api/paths.ts';
import type { Device, Sensor } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { FormError } from '../../ui/form-error.tsx';
import { sensorName } from '../../ui/value.tsx';

/** Says what a sensor was taken for that nobody said, and asks those who may change it. */
export function MeasuresNote(props: {
  readonly device: Device;
  readonly sensor: Sensor;
  readonly measures: Measures | undefined;
  readonly mayChange: boolean;
  readonly onChange: () => void;
}): JSX.Element | null {
  const { device, sensor, measures, mayChange, onChange } = props;
  const action = useAction();
  if (!isUnsaid(sensor) || measures === undefined) return null;
  const isCounter = measures === 'counter';
  const other = isCounter ? 'amount' : 'counter';
  const say = async (json: Measures): Promise<void> => {
    const path = `${apiPaths.sensor(device.id, sensor.id)}/measures`;
    if (await action.run(() => api.send({ method: 'PUT', path, json }))) onChange();
  };
  const name = sensorName(sensor);
  return (
    <div class="note stack-tight">
      <p>
        {t(isCounter ? 'device.looksCounter' : 'device.looksAmount', { name })}{' '}
        {mayChange && t('device.isThatRight')}
      </p>
      {mayChange && (
        <div class="row">
          <button
            type="button"
            class="button"
            onClick={() => say(measures)}
            disabled={action.isBusy}
          >
            {t('device.measuresRight')}
          </button>
          <button
            type="button"
            class="button button-quiet"
            onClick={() => say(other)}
            disabled={action.isBusy}
          >
            {t(isCounter ? 'device.measuresAmount' : 'device.measuresCounter')}
          </button>
        </div>
      )}
      <FormError text={action.error} />
    </div>
  );
}
