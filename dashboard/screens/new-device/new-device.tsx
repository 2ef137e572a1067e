import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { errorSentence } from '../../api/error-sentence.ts';
import { t } from '../../i18n/i18n.ts';
import { useAction } from '../../state/action.ts';
import { lazily } from '../../ui/lazy-part.tsx';
import { ScreenSkeleton } from '../../ui/skeleton.tsx';
import { createAll, isConflict } from './create-all.ts';
import { clearDraft, countOf, draft, made, readDraft, writeDraft } from './draft.ts';
import { NameStep } from './name-step.tsx';
import { SendStep } from './send-step.tsx';
import { SensorsStep } from './sensors-step.tsx';

const titles = ['start.nameTitle', 'start.sensorsTitle', 'start.sendTitle'] as const;

const GatewayKit = lazily(
  () => import('./gateway-kit.tsx').then((module) => module.GatewayKit),
  () => <ScreenSkeleton />,
);

/** Choice of what is new: devices, or a gateway that brings its own. */
export function NewDevice(): JSX.Element {
  const { query } = useLocation();
  return query['kit'] === 'gateway' ? <GatewayKit id={query['gateway']} /> : <Devices />;
}

/** Devices in three steps: what they are, what they measure, and the lines that send. */
function Devices(): JSX.Element {
  const { query, route } = useLocation();
  const ids = (query['device'] ?? '').split(' ').filter((id) => id !== '');
  const asked = query['step'] === '3' && ids.length > 0 ? 3 : query['step'] === '2' ? 2 : 1;
  // The steps are addresses, so that going back on a phone is a step back.
  const step = asked === 2 && draft.value.id === '' ? 1 : asked;
  const [isRead, setRead] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const action = useAction();
  const [error, setError] = useState<string>();
  useEffect(() => {
    readDraft();
    setRead(true);
  }, []);
  useEffect(() => {
    if (step > 1) heading.current?.focus();
  }, [step]);

  async function create(): Promise<void> {
    setError(undefined);
    let ids: readonly string[] = [];
    const isDone = await action.run(async () => {
      try {
        ids = await createAll();
      } catch (failure) {
        const isTaken = isConflict(failure);
        setError(isTaken ? t('start.taken') : withProgress(errorSentence(failure, t)));
        if (isTaken) route('/new-device', true);
        throw failure;
      }
    });
    if (!isDone) return;
    const list = ids.map(encodeURIComponent).join('+');
    clearDraft();
    // What was made is not made again by going back.
    route(`/new-device?step=3&device=${list}`, true);
  }

  return (
    <div class="stack narrow-wide">
      <p class="quiet">{t('start.step', { count: step })}</p>
      <h1 ref={heading} tabIndex={-1}>
        {t(titles[step - 1] ?? 'start.title')}
      </h1>
      {step === 1 && isRead && (
        <NameStep
          draft={draft.value}
          error={error}
          onDraft={writeDraft}
          onNext={() => {
            setError(undefined);
            route('/new-device?step=2');
          }}
        />
      )}
      {step === 1 && isRead && (
        <p class="note">
          {t('gateways.kitText')} <a href="/new-device?kit=gateway">{t('gateways.kit')}</a>
        </p>
      )}
      {step === 2 && (
        <SensorsStep
          draft={draft.value}
          error={error}
          isBusy={action.isBusy}
          onDraft={writeDraft}
          onBack={() => history.back()}
          onCreate={() => void create()}
        />
      )}
      {step === 3 && <SendStep ids={ids} />}
    </div>
  );
}

/** What went wrong, and how far it had come. */
function withProgress(error: string): string {
  if (made.value.length === 0) return error;
  const count = countOf(draft.value) ?? 1;
  return `${error} ${t('start.madeSome', { made: made.value.length, count })}`;
}
