import type { JSX } from 'preact';
import { t } from '../../i18n/i18n.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
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
      <DelayedField
        label={t('home.gateway')}
        value={view.gateway ?? ''}
        onValue={(gateway) => {
          const { gateway: _old, ...others } = view;
          onView(gateway === '' ? others : { ...others, gateway });
        }}
      />
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

function DelayedField(props: {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}): JSX.Element {
  const { typed, type } = useDelayed(props.value, props.onValue);
  return <TextField label={props.label} value={typed} onValue={type} autocapitalize="none" />;
}
