import type { JSX } from 'preact';
import type { MyGrants } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { grantSentence } from '../../ui/grant-sentence.ts';
import { Icon } from '../../ui/icons.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { GrantList, kindOf } from './grant-list.tsx';
import { granteeName } from './grants.tsx';
import { ShareSeveral } from './share-several.tsx';

/** What is shared with me, and what I share. */
export function Sharing(): JSX.Element {
  const { value, error, reload } = useResource(`my grants ${username.value}`, (signal) =>
    api.getJson<MyGrants>({ path: '/users/me/grants', signal }),
  );
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>{t('sharing.mine')}</h1>
        <a class="button" href="/groups">
          <Icon name="sharing" />
          {t('sharing.groups')}
        </a>
      </header>
      <ShareSeveral onShared={reload} />
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={200} />}
      {value !== undefined && (
        <>
          <GrantList title={t('sharing.received')} empty={t('sharing.receivedNone')}>
            {value.received.map(({ kind, resource, owner, scopes, group, name }) => ({
              ...{ kind, resource, part: '' as const },
              sentence: grantSentence(undefined, scopes, kindOf(kind)),
              note: [
                t('home.ownedBy', { name: owner }),
                ...(group === undefined ? [] : [t('sharing.byGroup', { name: name ?? group })]),
              ].join(' '),
            }))}
          </GrantList>
          <GrantList title={t('sharing.given')} empty={t('sharing.givenNone')}>
            {value.given.map((grant) => ({
              ...{ kind: grant.kind, resource: grant.resource, part: '/share' as const, note: '' },
              sentence: grantSentence(granteeName(grant), grant.scopes, kindOf(grant.kind)),
            }))}
          </GrantList>
        </>
      )}
    </div>
  );
}
