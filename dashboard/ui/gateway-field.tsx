import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { apiPaths } from '../api/paths.ts';
import type { Gateway } from '../api/types.ts';
import { t } from '../i18n/i18n.ts';
import { useResource } from '../state/resource.ts';
import { api, username } from '../state/session.ts';
import { Field } from './field.tsx';
import { deviceName } from './value.tsx';

/** Beyond, a gateway is found by its id alone. */
const namedMax = 200;

/** The gateway that sends for a device: picked by its name, or typed by its id. */
export function GatewayField(props: {
  readonly value: string;
  readonly onValue: (id: string) => void;
}): JSX.Element {
  const { value, onValue } = props;
  const listId = useId();
  const { value: gateways = [] } = useResource(`gateway names ${username.value}`, (signal) =>
    api.getJson<readonly Gateway[]>({
      ...{ path: apiPaths.gateways, query: { limit: namedMax }, signal },
    }),
  );
  const chosen = gateways.find(({ id }) => id === value.trim());
  return (
    <Field
      label={t('device.gateway')}
      hint={
        chosen === undefined
          ? t('device.gatewayHint')
          : t('device.gatewayIs', { name: deviceName(chosen) })
      }
      isOptional
      control={(ids) => (
        <>
          <input
            {...ids}
            class="input"
            type="text"
            list={listId}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={value}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
          <datalist id={listId}>
            {gateways.map((gateway) => (
              <option key={gateway.id} value={gateway.id} label={deviceName(gateway)} />
            ))}
          </datalist>
        </>
      )}
    />
  );
}
