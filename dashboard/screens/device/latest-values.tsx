import type { JSX } from 'preact';
import { apiPaths } from '../../api/paths.ts';
import type { Datapoint, Device, Sensor } from '../../api/types.ts';
import { describeZone, usableZone } from '../../charts/zone.ts';
import { formatDate, formatSpan } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { formatStored } from '../../i18n/later-formats.ts';
import { correctionsMade } from '../../state/corrections.ts';
import { useResource } from '../../state/resource.ts';
import { api } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

const rowsMax = 20;
/** A value that comes this much after it was measured is worth a word. */
const lateMs = 120_000;

/** The newest values of any kind as a table, with how late they came. */
export function LatestValues({
  device,
  sensor,
}: {
  readonly device: Device;
  readonly sensor: Sensor;
}): JSX.Element | null {
  const made = correctionsMade.value;
  const newest = sensor.last_value?.timestamp ?? sensor.last_value?.date_received;
  const { value, error, reload } = useResource(
    newest === undefined
      ? undefined
      : `latest ${device.id} ${sensor.id} ${newest} ${JSON.stringify(sensor.calib)} ${made}`,
    (signal) =>
      api.getJson<readonly Datapoint[]>({
        path: `${apiPaths.sensor(device.id, sensor.id)}/values`,
        query: { lastN: rowsMax },
        signal,
      }),
  );
  if (newest === undefined) return null;
  const zone = usableZone(device.timezone);
  return (
    <details class="surface fold">
      <summary>{t('device.latest')}</summary>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined ? (
        error === undefined && <Skeleton height={240} />
      ) : (
        <div class="table-wide">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">{t('device.time')}</th>
                <th scope="col">{t('device.value')}</th>
                <th scope="col">{t('device.received')}</th>
              </tr>
            </thead>
            <tbody>
              {value.map((datapoint, index) => (
                <LatestRow key={`${datapoint.timestamp} ${index}`} {...{ datapoint, zone }} />
              ))}
            </tbody>
          </table>
          <p class="quiet small">{t('chart.zone', { zone: describeZone(zone, Date.now()) })}</p>
        </div>
      )}
    </details>
  );
}

function LatestRow(props: { readonly datapoint: Datapoint; readonly zone: string }): JSX.Element {
  const { datapoint, zone } = props;
  const measured = Date.parse(datapoint.timestamp ?? '');
  const received = Date.parse(datapoint.date_received ?? '');
  const delay = received - measured;
  const show = (at: number) => formatDate(at, { language: language.value, style: 'precise', zone });
  return (
    <tr>
      <td class="number">{show(measured)}</td>
      <td class="number">{formatStored(datapoint.value, language.value, t)}</td>
      <td class="number">
        {delay > lateMs ? t('device.lateBy', { span: formatSpan(delay, t) }) : show(received)}
      </td>
    </tr>
  );
}
