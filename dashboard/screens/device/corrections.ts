import { errorSentence } from '../../api/error-sentence.ts';
import { apiPaths } from '../../api/paths.ts';
import { t } from '../../i18n/i18n.ts';
import { tellCorrected } from '../../state/corrections.ts';
import { api } from '../../state/session.ts';
import { hideToast, showToast } from '../../state/toasts.ts';

/** One sensor of a device, by ids. */
export interface SensorIds {
  readonly device: string;
  readonly sensor: string;
}

const pathOf = ({ device, sensor }: SensorIds): string => apiPaths.sensor(device, sensor);

export const correctionsPath = (ids: SensorIds): string => `${pathOf(ids)}/corrections`;
export const valuesPath = (ids: SensorIds): string => `${pathOf(ids)}/values`;

/** Takes values away, and offers to undo it. Throws what the service refuses. */
export async function takeAway(
  ids: SensorIds,
  query: Readonly<Record<string, string>>,
  onChange: () => void,
): Promise<void> {
  const text = await api.send({ method: 'DELETE', path: valuesPath(ids), query });
  const { removed, correction } = JSON.parse(text) as { removed: number; correction?: string };
  tell(ids, t('corrections.removed', { count: removed }), correction, onChange);
}

/** Gives one datapoint another value, and offers to undo it. Throws what the service refuses. */
export async function putRight(
  ids: SensorIds,
  item: Readonly<Record<string, unknown>>,
  { change, onChange }: { readonly change: string; readonly onChange: () => void },
): Promise<void> {
  const text = await api.send({ method: 'PATCH', path: valuesPath(ids), json: [item] });
  const { corrected, correction } = JSON.parse(text) as { corrected: number; correction?: string };
  const sentence = t('corrections.corrected', { count: corrected });
  tell(ids, t('common.pair', { name: sentence, value: change }), correction, onChange);
}

/** The last offer to undo, by its correction. */
let offer: { readonly correction: string; readonly toast: number } | undefined;

/** Undoes a correction, and says so, or why not. */
export async function undo(ids: SensorIds, id: string, onChange: () => void): Promise<void> {
  // Undone from the list, it is not offered any more.
  if (offer?.correction === id) hideToast(offer.toast);
  try {
    await api.send({ method: 'DELETE', path: `${correctionsPath(ids)}/${id}` });
    showToast(t('corrections.undone'));
  } catch (error) {
    showToast(errorSentence(error, t));
  }
  tellCorrected();
  onChange();
}

function tell(
  ids: SensorIds,
  sentence: string,
  id: string | undefined,
  onChange: () => void,
): void {
  tellCorrected();
  onChange();
  if (id === undefined) {
    showToast(t('corrections.nothing'));
    return;
  }
  const run = (): void => void undo(ids, id, onChange);
  offer = { correction: id, toast: showToast(sentence, { label: t('common.undo'), run }) };
}
