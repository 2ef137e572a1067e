import type { ComponentChildren, JSX } from 'preact';
import { screenPaths } from '../../api/paths.ts';
import type { SharedKind } from '../../api/sharing-words.ts';
import { t } from '../../i18n/i18n.ts';
import { useNames } from '../../state/names.ts';

/** The kind of thing that a grant is about. */
export const kindOf = (kind: string): SharedKind =>
  kind === 'gateway' || kind === 'project' ? kind : 'device';

/** One grant as a line that leads to what it is about. */
export interface GrantLine {
  readonly kind: string;
  readonly resource: string;
  readonly sentence: string;
  readonly note: string;
  readonly part: '' | '/share';
}

/** Grants, each with the name of what it is about; `below` is painted when nothing moves it. */
export function GrantList(props: {
  readonly title: string;
  readonly empty: string;
  readonly children: readonly GrantLine[];
  readonly below?: ComponentChildren;
}): JSX.Element {
  const { title, empty, children, below } = props;
  const { nameOf, isSettled } = useNames(
    children.map(({ kind, resource }) => ({ kind: kindOf(kind), id: resource })),
  );
  return (
    <>
      <section class="stack-tight">
        <h2>{title}</h2>
        {children.length === 0 ? (
          <p class="quiet">{empty}</p>
        ) : (
          <ul class="menu">
            {children.map((line) => (
              <li key={`${line.kind} ${line.resource} ${line.sentence} ${line.note}`}>
                <a href={pathOf(line)} class="grant-line">
                  <span class="grow">
                    <strong>{nameOf({ kind: kindOf(line.kind), id: line.resource })}</strong>{' '}
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
        )}
      </section>
      {isSettled && below}
    </>
  );
}

function pathOf({ kind, resource, part }: GrantLine): string {
  return screenPaths[kindOf(kind)](resource) + part;
}
