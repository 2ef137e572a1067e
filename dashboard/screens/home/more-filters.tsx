import type { JSX } from 'preact';
import { apiPaths } from '../../api/paths.ts';
import type { Gateway } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { deviceName } from '../../ui/value.tsx';
import { useDelayed } from './use-delayed.ts';
import { isNarrowed, type View } from './view.ts';

/** What narrows the list besides the search and whose devices they are. */
export function MoreFilters({
  view,
  onView,
}: {
  readonly view: View;
  readonly onView: (view: View) => void;
}): JSX.Element {
  return (
    <div class="form-grid surface">
      <DelayedField
        label={t('home.domain')}
        value={view.domain ?? ''}
        onValue={(domain) => {
          const { domain: _old, ...others } = view;
          onView(domain === '' ? others : { ...others, domain });
        }}
      />
      <GatewayFilter view={view} onView={onView} />
      <SelectField
        label={t('home.visibility')}
        value={view.visibility ?? 'any'}
        options={[
          { value: 'any', label: t('home.any') },
          { value: 'private', label: t('home.private') },
          { value: 'public', label: t('home.public') },
        ]}
        onValue={(choice) => {
          const { visibility: _old, ...others } = view;
          onView(choice === 'any' ? others : { ...others, visibility: choice });
        }}
      />
      {isNarrowed(view) && (
        <button
          type="button"
          class="button button-quiet"
          onClick={() => onView({ whose: view.whose })}
        >
          {t('home.clearFilters')}
        </button>
      )}
    </div>
  );
}

/** Beyond, a gateway is found on its own screen alone. */
const namedMax = 200;

/** The devices of one gateway, picked by its name. */
function GatewayFilter({ view, onView }: Parameters<typeof MoreFilters>[0]): JSX.Element {
  const { value = [] } = useResource(`gateway names ${username.value}`, (signal) =>
    api.getJson<readonly Gateway[]>({
      ...{ path: apiPaths.gateways, query: { limit: namedMax }, signal },
    }),
  );
  const { gateway: chosen, ...others } = view;
  const known = value.map((gateway) => ({ value: gateway.id, label: deviceName(gateway) }));
  // One that the address names, and nobody may see or has.
  const isUnknown = chosen !== undefined && !known.some((one) => one.value === chosen);
  return (
    <SelectField
      label={t('home.gateway')}
      value={chosen ?? ''}
      options={[
        { value: '', label: t('home.any') },
        ...known,
        ...(isUnknown ? [{ value: chosen, label: chosen }] : []),
      ]}
      onValue={(gateway) => onView(gateway === '' ? others : { ...others, gateway })}
    />
  );
}

function DelayedField(props: {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}): JSX.Element {
  const { typed, type } = useDelayed(props.value, props.onValue);
  return <TextField label={props.label} value={typed} onValue={type} autocapitalize="none" />;
}
