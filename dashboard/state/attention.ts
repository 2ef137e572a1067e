import { useMemo } from 'preact/hooks';
import { concernOf, watchesOf } from '../alerts/attention.ts';
import { testWords } from '../alerts/condition-words.ts';
import type { Notification } from '../api/alert-types.ts';
import { attentionFirst } from '../api/freshness.ts';
import type { Device } from '../api/types.ts';
import { t } from '../i18n/i18n.ts';
import { useNaming } from './alerts.ts';
import { now } from './clock.ts';

/** Devices that are silent or meet an alert, ahead of all others. */
export interface Attention {
  readonly wanting: readonly Device[];
  readonly others: readonly Device[];
  /** What their alerts say, by the id of the device. */
  readonly concerns: ReadonlyMap<string, string>;
  /** Silence is all there is to say. */
  readonly isSilenceAll: boolean;
}

/** What on a list of devices should be looked at first, by their last values. */
export function useAttention(
  devices: readonly Device[],
  alerts: readonly Notification[] | undefined,
): Attention {
  const watched = useMemo(() => watchesOf(alerts ?? []), [alerts]);
  const naming = useNaming(devices);
  const concerns = new Map<string, string>();
  for (const device of devices) {
    const concern = concernOf(device, watched, now.value);
    if (concern === undefined) continue;
    const { description } = concern.alert;
    const said = testWords(concern.condition, [device.id], naming);
    concerns.set(
      device.id,
      description === undefined ? said : t('common.pair', { name: description, value: said }),
    );
  }
  const { silent } = attentionFirst(devices, now.value);
  const isWanting = (device: Device): boolean =>
    concerns.has(device.id) || silent.some(({ id }) => id === device.id);
  return {
    wanting: devices.filter(isWanting),
    others: devices.filter((device) => !isWanting(device)),
    concerns,
    isSilenceAll: concerns.size === 0,
  };
}
