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
  /** Absent: the reader. */
  name: string | undefined,
  scopes: readonly string[],
  kind: SharedKind = 'device',
): string {
  const { may, mayNot } = partScopes(scopes, wordsFor(kind, scopes));
  const joined = (words: readonly ScopeWord[], type: Intl.ListFormatType): string =>
    new Intl.ListFormat(language.value, { type }).format(words.map((one) => wordText(one, kind)));
  const who = name === undefined ? 'mine' : 'may';
  const subject = { ...(name !== undefined && { name }) };
  if (may.length === 0) return t(`sharing.${who}Nothing`, subject);
  const rights = joined(may, 'conjunction');
  if (mayNot.length === 0) return t(`sharing.${who}All`, { ...subject, rights });
  const others = joined(mayNot, 'disjunction');
  return t(`sharing.${who}Not`, { ...subject, rights, others });
}

/** "change it", said of the thing that it is. */
export function wordText(word: ScopeWord, kind: SharedKind): string {
  if (kind === 'device' || word === 'data-view' || word === 'data-create') {
    return t(`sharing.${word}`);
  }
  return t(`sharing.${kind}-${word}`);
}
