import type { JSX } from 'preact';

/** Why a form was not accepted; nothing when it was. */
export function FormError({ text }: { readonly text: string | undefined }): JSX.Element | null {
  if (text === undefined) return null;
  return (
    <p class="field-error" role="alert">
      {text}
    </p>
  );
}
