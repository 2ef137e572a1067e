/** What the user chose; system follows the device. */
export type Theme = 'system' | 'light' | 'dark';

export const themes: readonly Theme[] = ['system', 'light', 'dark'];

export const themeKey = 'kipimo.theme';

/** The theme chosen on this device; a browser that keeps nothing follows the system. */
export function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(themeKey);
    return themes.find((theme) => theme === kept) ?? 'system';
  } catch {
    return 'system';
  }
}
