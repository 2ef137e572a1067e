import type { ComponentChildren, JSX } from 'preact';
import { apiPaths } from '../../api/paths.ts';
import type { Project } from '../../api/types.ts';
import { language, t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useNames } from '../../state/names.ts';
import { api } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

/** Names that are said before the rest is left out. */
const namesMax = 12;

/** What sharing the project shares, and what it does not reach yet; above `children`. */
export function ProjectReach(props: {
  readonly project: Project;
  readonly onChanged: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { project, onChanged, children } = props;
  const action = useAction();
  const things = [
    ...project.device_ids.map((id) => ({ kind: 'device' as const, id })),
    ...project.gateway_ids.map((id) => ({ kind: 'gateway' as const, id })),
  ];
  const { nameOf, isSettled } = useNames(things);
  const { device_ids: devices = [], gateway_ids: gateways = [] } = project.unshared ?? {};
  const isOut = ({ kind, id }: { readonly kind: string; readonly id: string }): boolean =>
    (kind === 'device' ? devices : gateways).includes(id);
  const listed = (of: typeof things): string => {
    const names = of.slice(0, namesMax).map(nameOf);
    const rest = of.length - names.length;
    return new Intl.ListFormat(language.value, { type: 'unit' }).format(
      rest > 0 ? [...names, `+ ${rest}`] : names,
    );
  };
  const reached = things.filter((thing) => !isOut(thing));
  const unreached = things.filter(isOut);

  async function share(): Promise<void> {
    const path = apiPaths.project(project.id);
    const isDone = await action.run(async () => {
      await api.send({ method: 'PUT', path: `${path}/device_ids`, json: project.device_ids });
      await api.send({ method: 'PUT', path: `${path}/gateway_ids`, json: project.gateway_ids });
    });
    if (!isDone) return;
    showToast(t('sharing.projectShared'));
    onChanged();
  }

  if (!isSettled) return <Skeleton height={200} />;
  return (
    <>
      <div class="stack-tight">
        <p class="quiet">{t('sharing.projectHint')}</p>
        {reached.length > 0 && <p>{t('sharing.projectShares', { names: listed(reached) })}</p>}
        {unreached.length > 0 && (
          <div class="note stack-tight">
            <p>{t('sharing.unshared', { count: unreached.length, names: listed(unreached) })}</p>
            <button
              type="button"
              class="button"
              disabled={action.isBusy}
              onClick={() => void share()}
            >
              {t('sharing.shareThemToo')}
            </button>
            <FormError text={action.error} />
          </div>
        )}
      </div>
      {children}
    </>
  );
}
