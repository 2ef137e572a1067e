import type { JSX } from 'preact';
import { thresholdOf } from '../../alerts/attention.ts';
import type { Evaluation, Notification } from '../../api/alert-types.ts';
import { apiPaths } from '../../api/paths.ts';
import type { Device } from '../../api/types.ts';
import { unitSymbol } from '../../api/unit-symbol.ts';
import { formatDate, formatValue } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { deviceName, sensorName } from '../../ui/value.tsx';

/** Why an alert did or did not send, look by look. */
export function Evaluations(props: {
  readonly alert: Notification;
  readonly devices: readonly Device[];
}): JSX.Element {
  const { alert, devices } = props;
  const { value, error, reload } = useResource(`why ${alert.id}`, (signal) =>
    api.getJson<readonly Evaluation[]>({ path: `${apiPaths.alert(alert.id)}/why`, signal }),
  );
  return (
    <section class="stack-tight" aria-labelledby="why">
      <div class="row row-apart">
        <h2 id="why">{t('alerts.why')}</h2>
        <button type="button" class="button button-quiet" onClick={reload}>
          {t('alerts.refresh')}
        </button>
      </div>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={88} />}
      {value?.length === 0 && <p class="quiet">{t('alerts.whyNothing')}</p>}
      {value !== undefined && value.length > 0 && (
        <ul class="menu alert-events">
          {value.map((evaluation, index) => (
            <li key={`${evaluation.timestamp} ${index}`}>
              <EvaluationLine alert={alert} evaluation={evaluation} devices={devices} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function EvaluationLine(props: {
  readonly alert: Notification;
  readonly evaluation: Evaluation;
  readonly devices: readonly Device[];
}): JSX.Element {
  const { timestamp, device_id, sensor_id, value, outcome } = props.evaluation;
  const device = props.devices.find(({ id }) => id === device_id);
  const sensor = device?.sensors.find(({ id }) => id === sensor_id);
  const names = {
    device: deviceName(device ?? { id: device_id }),
    sensor: sensorName(sensor ?? { id: sensor_id }),
  };
  const whole = device ?? { id: device_id, owner: '' };
  const line = thresholdOf([{ ...props.alert, status: 'active' }], whole, sensor_id);
  const text =
    `${formatValue(value, language.value, t, line)}\u00a0${unitSymbol(sensor?.unit)}`.trim();
  return (
    <div class="stack-tight">
      <span class="row row-apart">
        <span>
          {value === undefined
            ? t('alerts.silence', names)
            : t('alerts.came', { ...names, value: text })}
        </span>
        <time class="quiet small" dateTime={timestamp}>
          {formatDate(Date.parse(timestamp), { language: language.value, style: 'precise' })}
        </time>
      </span>
      <span class={outcome === 'sent' ? undefined : 'quiet'}>{t(`alerts.why-${outcome}`)}</span>
    </div>
  );
}
