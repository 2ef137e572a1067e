import { partScopes, type ScopeWord, type SharedKind } from '../api/sharing-words.ts';
import { language, t } from '../i18n/i18n.ts';

const wordsOf: Readonly<Record<SharedKind, readonly ScopeWord[]>> = {
  device: ['view', 'data-view', 'data-create', 'update', 'delete'],
  gateway: ['view', 'update', 'delete'],
  project: ['view', 'update', 'delete'],
};

/** That somebody may not send to what is in a project goes without saying. */
const wordsFor = (kind: SharedKind, scopes: readonly string[]): readonly ScopeWord[] =>
  kind === 'project' && scopes.includes('devices-data:create')
    ? ['view', 'data-create', 'update', 'delete']
    : wordsOf[kind];

/** "Kofi may see the device and send values, not change or delete it." */
export function grantSentence(
  name: string,
  scopes: readonly string[],
  kind: SharedKind = 'device',
): string {
  const { may, mayNot } = partScopes(scopes, wordsFor(kind, scopes));
  const joined = (words: readonly ScopeWord[], type: Intl.ListFormatType): string =>
    new Intl.ListFormat(language.value, { type }).format(words.map((one) => wordText(one, kind)));
  if (may.length === 0) return t('sharing.mayNothing', { name });
  const rights = joined(may, 'conjunction');
  if (mayNot.length === 0) return t('sharing.mayAll', { name, rights });
  return t('sharing.mayNot', { name, rights, others: joined(mayNot, 'disjunction') });
}

/** "change it", said of the thing that it is. */
export function wordText(word: ScopeWord, kind: SharedKind): string {
  if (kind === 'device' || word === 'data-view' || word === 'data-create') {
    return t(`sharing.${word}`);
  }
  return t(`sharing.${kind}-${word}`);
}
