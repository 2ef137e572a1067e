import type { JSX } from 'preact';
import { apiPaths, screenPaths } from '../api/paths.ts';
import type { Device, Refusal } from '../api/types.ts';
import type { MessageKey } from '../i18n/dictionary.ts';
import { formatAge } from '../i18n/formats.ts';
import { t } from '../i18n/i18n.ts';
import { now } from '../state/clock.ts';
import { useResource } from '../state/resource.ts';
import { api, isAdmin, username } from '../state/session.ts';
import { Icon } from './icons.tsx';

/** Somebody looks at the screen while a device is tried out: what is wrong shows soon. */
const refreshMs = 4_000;

/** A newer service may know of problems that there are no words for here. */
const sentences: ReadonlyMap<string, MessageKey> = new Map(
  (
    [
      ...(['no_key', 'wrong_key', 'not_allowed', 'unknown_device', 'unknown_sensor'] as const),
      ...(['wrong_path', 'unreadable', 'clock_ahead', 'too_large', 'too_often'] as const),
      ...(['no_room', 'unavailable'] as const),
    ] satisfies readonly Refusal['problem'][]
  ).map((name) => [name, `refused.${name}`]),
);

/**
 * What was sent to a device and refused of late, and what to do about it; for who is in charge,
 * which is everybody where the device belongs to nobody.
 */
export function Refusals({ device }: { readonly device: Device }): JSX.Element | null {
  const { owner } = device;
  const mayRead = isAdmin.value || owner === 'guest' || owner === username.value;
  const { value } = useResource(
    mayRead ? `refusals ${device.id}` : undefined,
    (signal) =>
      api.getJson<readonly Refusal[]>({ path: `${apiPaths.device(device.id)}/refusals`, signal }),
    { refreshMs },
  );
  const known = value?.filter(({ problem }) => sentences.has(problem)) ?? [];
  // It is there before anything is in it, so that what comes later is read out.
  return (
    <div role="status">
      {known.length > 0 && (
        <div class="surface stack-tight refusals">
          <h3>{t('refused.title')}</h3>
          <ul class="lines">
            {known.map((refusal) => (
              <li key={keyOf(refusal)}>
                <RefusalLine refusal={refusal} device={device} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

const keyOf = ({ problem, via, device_id, sensor_id, elements }: Refusal): string =>
  [problem, via, device_id, sensor_id, elements !== undefined].join(' ');

function RefusalLine(props: { readonly refusal: Refusal; readonly device: Device }): JSX.Element {
  const { refusal, device } = props;
  const { problem, via, count, date, path, device_id = '', sensor_id = '' } = refusal;
  const sentence = sentences.get(problem) ?? 'refused.unreadable';
  const sensors = device.sensors.map(({ id }) => id).join(', ');
  const age = formatAge(Date.parse(date), now.value, t);
  const way = via === 'mqtt' ? 'MQTT' : 'HTTP';
  const words = [way, age];
  if (count > 1) words.push(t('refused.times', { count }));
  if (path !== undefined) words.push(path);
  const isUnknownSensor = problem === 'unknown_sensor';
  return (
    <div class="refusal">
      <Icon name="alert" />
      <div class="stack-tight">
        <p>{t(sentence, { device: device_id, own: device.id, sensor: sensor_id, sensors })}</p>
        {isUnknownSensor && (
          <p>
            <a href={screenPaths.devicePart(device.id, 'new-sensor')}>{t('refused.addSensor')}</a>
          </p>
        )}
        {refusal.excerpt !== undefined && <p class="small number">{refusal.excerpt}</p>}
        {refusal.elements !== undefined && <RefusedElements elements={refusal.elements} />}
        <p class="quiet small">{words.join(' · ')}</p>
      </div>
    </div>
  );
}

/** The first that were refused of an array, by their place in it, as people count. */
function RefusedElements(props: {
  readonly elements: NonNullable<Refusal['elements']>;
}): JSX.Element {
  return (
    <>
      <p>{t('refused.elements')}</p>
      <ul class="small">
        {props.elements.map(({ index, excerpt }) => (
          <li key={index} class="number">
            {t('refused.element', { place: index + 1, excerpt })}
          </li>
        ))}
      </ul>
    </>
  );
}
