import type { JSX } from 'preact';
import { screenPaths } from '../../api/paths.ts';
import type { MyGrants } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { grantSentence } from '../../ui/grant-sentence.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ShareSeveral } from './share-several.tsx';

/** What is shared with me, and what I share. */
export function Sharing(): JSX.Element {
  const { value, error, reload } = useResource(`my grants ${username.value}`, (signal) =>
    api.getJson<MyGrants>({ path: '/users/me/grants', signal }),
  );
  return (
    <div class="stack">
      <h1>{t('sharing.mine')}</h1>
      <ShareSeveral onShared={reload} />
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton height={200} />}
      {value !== undefined && (
        <>
          <GrantList title={t('sharing.received')} empty={t('sharing.receivedNone')}>
            {value.received.map((grant) => ({
              ...grant,
              sentence: grantSentence(t('sharing.you'), grant.scopes, kindOf(grant.kind)),
              note: t('home.ownedBy', { name: grant.owner }),
              part: '',
            }))}
          </GrantList>
          <GrantList title={t('sharing.given')} empty={t('sharing.givenNone')}>
            {value.given.map((grant) => ({
              ...grant,
              sentence: grantSentence(grant.username, grant.scopes, kindOf(grant.kind)),
              note: '',
              part: '/share',
            }))}
          </GrantList>
        </>
      )}
    </div>
  );
}

const kindOf = (kind: string): 'device' | 'gateway' | 'project' =>
  kind === 'gateway' || kind === 'project' ? kind : 'device';

interface Line {
  readonly kind: string;
  readonly resource: string;
  readonly sentence: string;
  readonly note: string;
  readonly part: string;
}

function GrantList(props: {
  readonly title: string;
  readonly empty: string;
  readonly children: readonly Line[];
}): JSX.Element {
  const { title, empty, children } = props;
  return (
    <section class="stack-tight">
      <h2>{title}</h2>
      {children.length === 0 && <p class="quiet">{empty}</p>}
      <ul class="menu">
        {children.map((line) => (
          <li key={`${line.kind} ${line.resource} ${line.sentence}`}>
            <a href={pathOf(line)} class="grant-line">
              <span class="grow">
                <strong>{line.resource}</strong>{' '}
                <span class="quiet small">
                  {t(`sharing.${kindOf(line.kind)}`)} {line.note}
                </span>
                <br />
                {line.sentence}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function pathOf({ kind, resource, part }: Line): string {
  return screenPaths[kindOf(kind)](resource) + part;
}
