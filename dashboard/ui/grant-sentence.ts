import { partScopes, type ScopeWord } from '../api/sharing-words.ts';
import { language, t } from '../i18n/i18n.ts';

/** "Kofi may see the device and send values, not change or delete it." */
export function grantSentence(
  name: string,
  scopes: readonly string[],
  kind: 'device' | 'gateway' | 'project' = 'device',
): string {
  const ofKind: readonly ScopeWord[] =
    kind === 'device'
      ? ['view', 'data-view', 'data-create', 'update', 'delete']
      : ['view', 'update', 'delete'];
  const { may, mayNot } = partScopes(scopes, ofKind);
  if (may.length === 0) return t('sharing.mayNothing', { name });
  const rights = joined(may, 'conjunction');
  if (mayNot.length === 0) return t('sharing.mayAll', { name, rights });
  return t('sharing.mayNot', { name, rights, others: joined(mayNot, 'disjunction') });
}

function joined(words: readonly ScopeWord[], type: Intl.ListFormatType): string {
  const list = new Intl.ListFormat(language.value, { type });
  return list.format(words.map((word) => t(`sharing.${word}`)));
}
