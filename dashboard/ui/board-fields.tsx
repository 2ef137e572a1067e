import type { JSX } from 'preact';
import { type Board, boards, type Wifi } from '../api/send-target.ts';
import { canSend, hasWifi } from '../api/sketches.ts';
import { t } from '../i18n/i18n.ts';
import { SelectField, TextField } from './field.tsx';

/** What a sketch is for, and the network that its board joins. */
export interface BoardChoice {
  readonly board: Board;
  readonly wifi: Wifi;
}

/** Whether a sketch would work as it is. */
export const isBoardSet = ({ board, wifi }: BoardChoice): boolean =>
  !hasWifi(board) || wifi.name !== '';

/** Chooses a board; asks for its Wi-Fi where it has one. */
export function BoardFields(props: {
  readonly value: BoardChoice;
  readonly onValue: (value: BoardChoice) => void;
}): JSX.Element {
  const { value, onValue } = props;
  const { board, wifi } = value;
  const setWifi = (part: Partial<Wifi>): void => onValue({ ...value, wifi: { ...wifi, ...part } });
  // What is a secret of the house is not kept by the browser, and is read while it is typed.
  const plain = { autocomplete: 'off', autocapitalize: 'none', spellcheck: false } as const;
  return (
    <>
      <SelectField
        label={t('send.board')}
        value={board}
        options={boards.map((name) => ({ value: name, label: name }))}
        hint={canSend(board, location.origin) ? undefined : t('send.noHttps')}
        onValue={(next) => onValue({ ...value, board: next })}
      />
      {hasWifi(board) && (
        <div class="form-grid">
          <TextField
            label={t('send.wifi')}
            hint={t('send.wifiHint')}
            value={wifi.name}
            onValue={(name) => setWifi({ name })}
            maxLength={32}
            {...plain}
          />
          <TextField
            label={t('send.wifiPassword')}
            value={wifi.password}
            onValue={(password) => setWifi({ password })}
            maxLength={64}
            isOptional
            {...plain}
          />
        </div>
      )}
    </>
  );
}
