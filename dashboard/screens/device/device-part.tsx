import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { screenPaths } from '../../api/paths.ts';
import type { DeviceRights } from '../../api/rights.ts';
import type { Device } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { type DeviceState, useDevice } from '../../state/device.ts';
import { username } from '../../state/session.ts';
import { isRefused } from '../../state/still-there.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Remembered } from '../../ui/remembered.tsx';
import { ScreenSkeleton } from '../../ui/skeleton.tsx';
import { deviceName } from '../../ui/value.tsx';

/** What a screen about a device is drawn from. */
export interface KnownDevice {
  readonly device: Device;
  readonly rights: DeviceRights;
  readonly reload: () => void;
}

/** A screen about one part of a device: the way back, a title, and what it shows. */
export function DevicePart(props: {
  readonly id: string;
  readonly title: (device: Device) => string;
  readonly children: (known: KnownDevice) => ComponentChildren;
}): JSX.Element {
  const state = useDevice(props.id);
  const { device } = state;
  const title = device === undefined ? undefined : props.title(device);
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · Kipimo`;
  }, [title]);
  return (
    <div class="stack">
      <a class="back-link" href={screenPaths.device(props.id)}>
        <Icon name="back" />
        {t('device.backToDevice', { name: device === undefined ? props.id : deviceName(device) })}
      </a>
      <DeviceOrWhy state={state}>
        {(known) => (
          <>
            <h1>{title}</h1>
            {props.children(known)}
          </>
        )}
      </DeviceOrWhy>
    </div>
  );
}

/** The device, or a skeleton, or why there is none to see. */
export function DeviceOrWhy({
  state,
  children,
}: {
  readonly state: DeviceState;
  readonly children: (known: KnownDevice) => ComponentChildren;
}): JSX.Element {
  const { resource, device, rights } = state;
  const { error, reload } = resource;
  // What was seen a moment ago and is not there any more: its last state would be a false one.
  if (device !== undefined && isRefused(error)) return <WhyNot error={error} wasSeen />;
  if (device === undefined || rights === undefined) {
    if (error === undefined) return <ScreenSkeleton />;
    return <WhyNot error={error} reload={reload} />;
  }
  return (
    <>
      <Remembered resource={resource} />
      {error !== undefined && resource.rememberedFrom === undefined && (
        <ErrorBox error={error} onRetry={reload} />
      )}
      {children({ device, rights, reload })}
    </>
  );
}

function WhyNot({
  error,
  reload,
  wasSeen = false,
}: {
  readonly error: unknown;
  readonly reload?: () => void;
  /** It was there when the screen was opened. */
  readonly wasSeen?: boolean;
}): JSX.Element {
  if (!isRefused(error)) {
    return <ErrorBox error={error} {...(reload !== undefined && { onRetry: reload })} />;
  }
  const { status } = error;
  const name = username.value ?? '';
  const isGuest = name === '';
  const kind = status === 403 ? (wasSeen ? 'unshared' : 'forbidden') : wasSeen ? 'gone' : 'missing';
  return (
    <div class="empty">
      <h1>{t(`device.${kind}Title`)}</h1>
      <p class="quiet">{t(`device.${kind}Text`)}</p>
      {kind === 'forbidden' && (
        <p class="quiet">
          {isGuest ? t('device.forbiddenLogin') : t('shell.loggedInAs', { name })}
        </p>
      )}
      {status === 403 && isGuest ? (
        <a class="button button-main" href="/login">
          {t('shell.login')}
        </a>
      ) : (
        <a class="button" href="/">
          {t('shell.goHome')}
        </a>
      )}
    </div>
  );
}
