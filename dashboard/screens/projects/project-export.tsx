import type { JSX } from 'preact';
import { apiPaths } from '../../api/paths.ts';
import type { Project } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { api } from '../../state/session.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { saveFile } from '../../ui/save-file.ts';

/** Every value of every device of a project, as the service packs it: a ZIP of CSV files. */
export function ProjectExport({ project }: { readonly project: Project }): JSX.Element {
  const action = useAction();
  async function save(): Promise<void> {
    await action.run(async () => {
      const answer = await api.request({ path: `${apiPaths.project(project.id)}/export` });
      saveFile(`${project.id}.zip`, await answer.blob());
    });
  }
  return (
    <div class="stack-tight">
      <button
        type="button"
        class="button tiles-add"
        disabled={action.isBusy}
        onClick={() => void save()}
      >
        <Icon name="download" />
        {t(action.isBusy ? 'profile.taking' : 'projects.export')}
      </button>
      <FormError text={action.error} />
    </div>
  );
}
