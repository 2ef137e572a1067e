import type { JSX } from 'preact';
import { t } from '../i18n/i18n.ts';
import { showToast } from '../state/toasts.ts';
import { Icon } from './icons.tsx';

/** Lines to copy, with the button that does it. */
export function CopyBlock({
  text,
  label,
}: {
  readonly text: string;
  readonly label: string;
}): JSX.Element {
  return (
    <div class="copy-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section class="code" tabIndex={0} aria-label={label}>
        {text}
      </section>
      <button type="button" class="button" onClick={() => void copyText(text)}>
        <Icon name="copy" />
        {t('common.copy')}
      </button>
    </div>
  );
}

/** Copies, also where the page is not served over HTTPS and the clipboard is kept from it. */
async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.style.position = 'fixed';
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  showToast(t('common.copied'));
}
