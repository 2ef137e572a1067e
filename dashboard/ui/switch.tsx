import type { JSX } from 'preact';

/** Something that is on or off, with its sentence before it. */
export function Switch(props: {
  readonly label: string;
  readonly isOn: boolean;
  readonly isBusy?: boolean;
  readonly onChange: () => void;
}): JSX.Element {
  const { label, isOn, isBusy = false, onChange } = props;
  return (
    <label class="choice row-apart">
      <span class="grow">{label}</span>
      <input
        type="checkbox"
        role="switch"
        class="switch"
        aria-checked={isOn}
        checked={isOn}
        disabled={isBusy}
        onChange={onChange}
      />
    </label>
  );
}
