import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n/i18n.ts';
import { writeLook } from '../../state/look-choice.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { isNarrowed, type Look, type View } from './view.ts';

const typingMs = 250;
const owners = ['mine', 'shared', 'all'] as const;

/** Search, whose devices, and a few more ways to narrow the list. */
export function Filters({
  view,
  look,
  onView,
}: {
  readonly view: View;
  readonly look: Look;
  readonly onView: (view: View) => void;
}): JSX.Element {
  const [isOpen, setOpen] = useState(
    view.domain !== undefined || view.gateway !== undefined || view.visibility !== undefined,
  );
  return (
    <search class="stack-tight home-filters">
      <div class="filters">
        <SearchField
          text={view.text ?? ''}
          onText={(text) => {
            const { text: _old, ...others } = view;
            onView(text === '' ? others : { ...others, text });
          }}
        />
        <button
          type="button"
          class="button"
          aria-expanded={isOpen}
          aria-controls="more-filters"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="tune" />
          {t('home.filter')}
        </button>
        <a class="button button-main filters-new" href="/new-device">
          <Icon name="plus" />
          {t('home.newDevice')}
        </a>
      </div>
      <div class="row filters-row">
        <fieldset class="segments" aria-label={t('home.whose')}>
          {owners.map((whose) => (
            <button
              key={whose}
              type="button"
              class="segment"
              aria-pressed={view.whose === whose}
              onClick={() => onView({ ...view, whose })}
            >
              {t(`home.${whose}`)}
            </button>
          ))}
        </fieldset>
        <button
          type="button"
          class="button button-quiet home-look"
          aria-pressed={look === 'lines'}
          onClick={() => {
            const next = look === 'lines' ? 'cards' : 'lines';
            writeLook(next);
            onView({ ...view, look: next });
          }}
        >
          <Icon name="more" />
          {t('home.lines')}
        </button>
      </div>
      <div id="more-filters" hidden={!isOpen}>
        {isOpen && <MoreFilters view={view} onView={onView} />}
      </div>
    </search>
  );
}

function MoreFilters({
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

/** Asks the service when the typing pauses, not at each letter. */
function useDelayed(text: string, onText: (text: string) => void) {
  const [typed, setTyped] = useState(text);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const tell = useRef(onText);
  tell.current = onText;
  useEffect(() => setTyped(text), [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (next: string): void => {
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => tell.current(next.trim()), typingMs);
  };
  return { typed, type };
}

/** What the search is reached by, as this keyboard has it. */
const searchKey = /mac/i.test(navigator.platform) ? '⌘ K' : 'Ctrl K';

function SearchField(props: {
  readonly text: string;
  readonly onText: (text: string) => void;
}): JSX.Element {
  const { typed, type } = useDelayed(props.text, props.onText);
  return (
    <div class="search">
      <Icon name="search" />
      <input
        type="search"
        class="input"
        aria-label={t('home.search')}
        placeholder={t('home.search')}
        aria-keyshortcuts="Control+K Meta+K"
        enterkeyhint="search"
        value={typed}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <span class="search-key">{searchKey}</span>
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
