import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { errorSentence } from '../../api/error-sentence.ts';
import type { ImportedUser } from '../../api/types.ts';
import { t } from '../../i18n/i18n.ts';
import { loadRefusals } from '../../i18n/refusals.ts';
import { useAction } from '../../state/action.ts';
import { api, isAdmin } from '../../state/session.ts';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Slips } from './slips.tsx';
import { AdminsOnly } from './users.tsx';

const example = 'username,name,group\nfatou.diop,Fatou Diop,4B\nmoussa.ba,Moussa Ba,4B';

/** Accounts for a class, from a list: who was made, and a slip of paper for each. */
export function ImportUsers(): JSX.Element {
  const [rows, setRows] = useState<readonly ImportedUser[]>();
  if (!isAdmin.value) return <AdminsOnly />;
  return (
    <div class="stack">
      <a class="back-link" href="/users">
        <Icon name="back" />
        {t('shell.users')}
      </a>
      <h1>{t('users.importTitle')}</h1>
      {rows === undefined ? (
        <ListForm onMade={setRows} />
      ) : (
        <Made rows={rows} onAgain={() => setRows(undefined)} />
      )}
    </div>
  );
}

function ListForm(props: {
  readonly onMade: (rows: readonly ImportedUser[]) => void;
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const action = useAction();
  async function send(event: Event): Promise<void> {
    event.preventDefault();
    const file = input.current?.files?.[0];
    if (file === undefined) return action.fail(t('users.importNoFile'));
    await action.run(async () => {
      const call = { method: 'POST', path: '/users/import', body: file, type: 'text/csv' } as const;
      const rows = await api.getJson<readonly ImportedUser[]>(call);
      // Rows that were not taken say why in the reader's language.
      if (rows.some(({ error }) => error !== undefined)) await loadRefusals();
      props.onMade(rows);
    });
  }
  return (
    <form class="form" onSubmit={send} noValidate>
      <p>{t('users.importText')}</p>
      <pre class="code">{example}</pre>
      <Field
        label={t('users.importFile')}
        hint={t('users.importColumns')}
        control={(ids) => (
          <input {...ids} ref={input} class="input" type="file" accept=".csv,text/csv,text/plain" />
        )}
      />
      <FormError text={action.error} />
      <button type="submit" class="button button-main" disabled={action.isBusy}>
        {t(action.isBusy ? 'users.importBusy' : 'users.importDo')}
      </button>
    </form>
  );
}

function Made(props: {
  readonly rows: readonly ImportedUser[];
  readonly onAgain: () => void;
}): JSX.Element {
  const { rows, onAgain } = props;
  const made = rows.filter(({ error }) => error === undefined);
  const refused = rows.filter(({ error }) => error !== undefined);
  return (
    <>
      <p role="status">{t('users.importMade', { count: made.length })}</p>
      {refused.length > 0 && (
        <section class="stack-tight" aria-labelledby="refused">
          <h2 id="refused">{t('users.importRefused', { count: refused.length })}</h2>
          <ul class="plain-rows">
            {refused.map((row, place) => (
              <li key={`${place} ${row.username}`}>
                <strong>{row.username}</strong> {sentenceOf(row)}
              </li>
            ))}
          </ul>
        </section>
      )}
      {made.length > 0 && <Slips people={made} />}
      <button type="button" class="button" onClick={onAgain}>
        {t('users.importAgain')}
      </button>
    </>
  );
}

function sentenceOf({ error = '', description = '', code, params }: ImportedUser): string {
  const exact = code === undefined ? undefined : { code, params: params ?? {} };
  return errorSentence(new ApiError({ status: 400, code: error, description, exact }), t);
}
