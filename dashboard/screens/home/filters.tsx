import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../i18n/i18n.ts';
import { writeLook } from '../../state/look-choice.ts';
import { FirstIcon } from '../../ui/first-icons.tsx';
import { lazily } from '../../ui/lazy-part.tsx';
import { useDelayed } from './use-delayed.ts';
import type { Look, View } from './view.ts';

const MoreFilters = lazily(
  () => import('./more-filters.tsx').then((module) => module.MoreFilters),
  undefined,
  2,
);

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
          <FirstIcon name="tune" />
          {t('home.filter')}
        </button>
        <a class="button button-main filters-new" href="/new-device">
          <FirstIcon name="plus" />
          {t('home.newDevice')}
        </a>
      </div>
      <div class="row filters-row">
        <fieldset class="segments segments-close" aria-label={t('home.whose')}>
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
          <FirstIcon name="more" />
          {t('home.lines')}
        </button>
      </div>
      <div id="more-filters" hidden={!isOpen}>
        {isOpen && <MoreFilters view={view} onView={onView} />}
      </div>
    </search>
  );
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
      <FirstIcon name="search" />
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
