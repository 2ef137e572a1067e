import type { JSX } from 'preact';
import type { Budget, ServiceState } from '../../api/types.ts';
import type { MessageKey } from '../../i18n/dictionary.ts';
import { formatNumber } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { useResource } from '../../state/resource.ts';
import { api, isAdmin } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { AdminsOnly } from '../users/users.tsx';
import { bytesText } from './bytes-text.ts';
import { ServiceFacts } from './service-state.tsx';
import { SignUpSwitch } from './sign-up-switch.tsx';
import { StorageUse } from './storage-use.tsx';

/** How many of those who use the most are named. */
const namedMax = 3;

/** What is used of every budget and by whom most, for administrators. */
export function Usage(): JSX.Element {
  return isAdmin.value ? <Budgets /> : <AdminsOnly />;
}

function Budgets(): JSX.Element {
  const { value, error, reload } = useResource('usage', async (signal) => {
    const [state, budgets] = await Promise.all([
      api.getJson<ServiceState>({ path: '/admin/service', signal }),
      api.getJson<readonly Budget[]>({ path: '/admin/usage', signal }),
    ]);
    return { state, budgets };
  });
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>{t('usage.title')}</h1>
        <button type="button" class="button" onClick={reload}>
          {t('usage.again')}
        </button>
      </header>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={320} />}
      {value !== undefined && (
        <>
          <ServiceFacts state={value.state} />
          <SignUpSwitch />
          <StorageUse storage={value.state.storage} />
          <h2>{t('usage.shared')}</h2>
          <p class="quiet">{t('usage.text')}</p>
          <ul class="lines surface">
            {value.budgets.map((budget) => (
              <li key={budget.name}>
                <BudgetLine budget={budget} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function BudgetLine({ budget }: { readonly budget: Budget }): JSX.Element {
  const { name, used, total, guests, refusals, largest } = budget;
  const label = labelOf(name);
  const amount = (value: number) => amountOf(value, budget);
  const most = largest
    .slice(0, namedMax)
    .map(({ username, who, used: part }) => `${username ?? who} ${amount(part)}`);
  const words = [
    t('usage.of', { used: amount(used), total: amount(total) }),
    ...(guests > 0 ? [t('usage.guests', { used: amount(guests) })] : []),
    ...(most.length > 0 ? [t('usage.most', { names: most.join(', ') })] : []),
  ];
  return (
    <div class="stack-tight">
      <strong title={name}>{label}</strong>
      <meter
        class="usage-meter"
        aria-label={label}
        min={0}
        max={total}
        high={total * 0.8}
        value={used}
      />
      <p class="quiet small">{words.join(' · ')}</p>
      {refusals > 0 && <p class="field-error">{t('usage.refused', { count: refusals })}</p>}
    </div>
  );
}

/** What a budget is called; a newer service has some that there are no words for. */
function labelOf(name: string): string {
  // Whatever the service says: `t` answers a key that it does not know as it is.
  const key = `usage.${name}` as MessageKey;
  const label = t(key);
  return label === key ? name : label;
}

function amountOf(value: number, { unit }: Budget): string {
  if (unit !== 'bytes') return formatNumber(value, language.value);
  return bytesText(value);
}
