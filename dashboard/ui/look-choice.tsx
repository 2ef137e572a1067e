import type { JSX } from 'preact';
import { language, showLanguage, t } from '../i18n/i18n.ts';
import { type Language, languageNames, languages } from '../i18n/languages.ts';
import { rememberLanguage } from '../state/language-choice.ts';
import { chooseTheme, theme } from '../state/theme.ts';
import { themes } from '../state/theme-choice.ts';
import { showToast } from '../state/toasts.ts';
import { SelectField } from './field.tsx';

/** Language and colours; kept on this device. */
export function LookChoice(): JSX.Element {
  async function choose(next: Language): Promise<void> {
    try {
      await showLanguage(next);
      rememberLanguage(next);
    } catch {
      showToast(t('errors.offline'));
    }
  }
  return (
    <div class="form-grid">
      <SelectField
        label={t('profile.language')}
        value={language.value}
        options={languages.map((value) => ({ value, label: languageNames[value] }))}
        onValue={(next) => void choose(next)}
      />
      <SelectField
        label={t('profile.theme')}
        value={theme.value}
        options={themes.map((value) => ({ value, label: t(`profile.${value}`) }))}
        onValue={chooseTheme}
      />
    </div>
  );
}
