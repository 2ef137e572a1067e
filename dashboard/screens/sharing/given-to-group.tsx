import type { ComponentChildren, JSX } from 'preact';
import type { MyGrants } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { grantSentence } from '../../ui/grant-sentence.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { GrantList, kindOf } from './grant-list.tsx';
import { granteeName } from './grants.tsx';

/** What is shared with a group; `children` follow when nothing moves them any more. */
export function GivenToGroup(props: {
  readonly group: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { group, children } = props;
  const { value, error } = useResource(`my grants ${username.value}`, (signal) =>
    api.getJson<MyGrants>({ path: '/users/me/grants', signal }),
  );
  if (value === undefined) return error === undefined ? <Skeleton height={160} /> : <>{children}</>;
  return (
    <GrantList title={t('groups.shared')} empty={t('groups.sharedNone')} below={children}>
      {value.given
        .filter((grant) => grant.group === group)
        .map((grant) => ({
          ...{ kind: grant.kind, resource: grant.resource, note: '', part: '/share' as const },
          sentence: grantSentence(granteeName(grant), grant.scopes, kindOf(grant.kind)),
        }))}
    </GrantList>
  );
}
