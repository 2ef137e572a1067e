import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CreatedInvitation, Invitation } from '../../api/types.ts';
import { formatDate } from '../../i18n/formats.ts';
import { language, t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { showToast } from '../../state/toasts.ts';
import { CopyBlock } from '../../ui/copy-block.tsx';
import { ErrorBox } from '../../ui/error-box.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { QrCode } from '../../ui/qr-code.tsx';

/** What people are invited to. */
export interface InvitedThing {
  readonly kind: 'device' | 'project' | 'group';
  readonly id: string;
}

type Right = 'see' | 'send' | 'change';

const scopesOf: Readonly<Record<'device' | 'project', Record<Right, readonly string[]>>> = {
  device: {
    see: ['devices:view', 'devices-data:view'],
    send: ['devices:view', 'devices-data:view', 'devices-data:create'],
    change: ['devices:view', 'devices-data:view', 'devices-data:create', 'devices:update'],
  },
  project: {
    see: ['projects:view'],
    send: ['projects:view', 'devices-data:create'],
    change: ['projects:view', 'devices-data:create', 'projects:update'],
  },
};

const dayMs = 86_400_000;
const spans = ['1', '7', '30'] as const;
const usesMax = 1_000;

/** Whether an invitation leads to this. */
const leadsTo = (invitation: Invitation, { kind, id }: InvitedThing): boolean =>
  kind === 'device' ? (invitation.devices ?? []).includes(id) : invitation[kind] === id;

const isOpen = ({ expires, uses_left: left }: Invitation): boolean =>
  left > 0 && Date.parse(expires) > Date.now();

const dateOf = (expires: string): string =>
  formatDate(Date.parse(expires), { language: language.value, style: 'day' });

/** Links that let people join without being known here, and those that are open. */
export function Invite({ thing }: { readonly thing: InvitedThing }): JSX.Element {
  const [made, setMade] = useState<CreatedInvitation>();
  const { value, error, reload } = useResource(`invitations ${username.value}`, (signal) =>
    api.getJson<readonly Invitation[]>({ path: '/invitations', signal }),
  );
  const open = (value ?? []).filter((one) => leadsTo(one, thing) && isOpen(one));
  return (
    <section class="stack-tight" aria-labelledby="invite">
      <h2 id="invite">{t('invite.title')}</h2>
      <p class="quiet">{t('invite.text')}</p>
      {made === undefined ? (
        <InviteForm
          thing={thing}
          onMade={(invitation) => {
            setMade(invitation);
            reload();
          }}
        />
      ) : (
        <Link invitation={made} onDone={() => setMade(undefined)} />
      )}
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {open.length > 0 && (
        <>
          <h3>{t('invite.open')}</h3>
          <ul class="plain-rows">
            {open.map((invitation) => (
              <li key={invitation.id}>
                <OpenInvitation
                  invitation={invitation}
                  onRevoked={() => {
                    if (made?.id === invitation.id) setMade(undefined);
                    reload();
                  }}
                />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function InviteForm(props: {
  readonly thing: InvitedThing;
  readonly onMade: (invitation: CreatedInvitation) => void;
}): JSX.Element {
  const { kind, id } = props.thing;
  const [right, setRight] = useState<Right>('see');
  const [days, setDays] = useState<(typeof spans)[number]>('7');
  const [uses, setUses] = useState(kind === 'group' ? '30' : '1');
  const action = useAction();

  async function make(event: Event): Promise<void> {
    event.preventDefault();
    const count = Number(uses);
    if (!Number.isInteger(count) || count < 1 || count > usesMax) {
      return action.fail(t('invite.usesBad', { max: usesMax }));
    }
    const json = {
      ...(kind === 'device' ? { devices: [id] } : { [kind]: id }),
      ...(kind !== 'group' && { scopes: scopesOf[kind][right] }),
      expires: new Date(Date.now() + Number(days) * dayMs).toISOString(),
      uses: count,
    };
    await action.run(async () => {
      const call = { method: 'POST', path: '/invitations', json } as const;
      props.onMade(await api.getJson<CreatedInvitation>(call));
    });
  }

  const rights = (['see', 'send', 'change'] as const).map((one) => ({
    value: one,
    label: t(`invite.${one}`),
  }));
  return (
    <form class="form" onSubmit={make} noValidate>
      {kind !== 'group' && (
        <SelectField label={t('invite.right')} value={right} options={rights} onValue={setRight} />
      )}
      <SelectField
        label={t('invite.lasts')}
        value={days}
        options={spans.map((span) => ({
          value: span,
          label: t('invite.days', { count: Number(span) }),
        }))}
        onValue={setDays}
      />
      <TextField
        label={t('invite.uses')}
        inputMode="numeric"
        autocomplete="off"
        value={uses}
        onValue={setUses}
      />
      <FormError text={action.error} />
      <button type="submit" class="button" disabled={action.isBusy}>
        {t('invite.make')}
      </button>
    </form>
  );
}

/** The link of an invitation, which only its maker sees, and only now. */
function Link(props: {
  readonly invitation: CreatedInvitation;
  readonly onDone: () => void;
}): JSX.Element {
  const { url, expires, uses_left: count } = props.invitation;
  // The service may know itself by another name than this page was opened by.
  const here = location.origin + new URL(url, location.origin).pathname;
  return (
    <div class="stack-tight">
      <CopyBlock text={here} label={t('invite.link')} />
      <QrCode text={here} />
      <p class="quiet">{t('invite.once')}</p>
      <p class="quiet">{t('invite.left', { count, date: dateOf(expires) })}</p>
      <button type="button" class="button" onClick={props.onDone}>
        {t('invite.another')}
      </button>
    </div>
  );
}

function OpenInvitation(props: {
  readonly invitation: Invitation;
  readonly onRevoked: () => void;
}): JSX.Element {
  const { id, expires, uses_left: count } = props.invitation;
  const action = useAction();
  async function revoke(): Promise<void> {
    const path = `/invitations/${encodeURIComponent(id)}`;
    if (!(await action.run(() => api.send({ method: 'DELETE', path })))) return;
    showToast(t('invite.revoked'));
    props.onRevoked();
  }
  return (
    <div class="row">
      <span class="grow">{t('invite.left', { count, date: dateOf(expires) })}</span>
      <button type="button" class="button" disabled={action.isBusy} onClick={() => void revoke()}>
        {t('invite.revoke')}
      </button>
      <FormError text={action.error} />
    </div>
  );
}
