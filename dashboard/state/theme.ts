import { signal } from '@preact/signals';
import { readTheme, type Theme, themeKey } from './theme-choice.ts';

/** The theme in use. */
export const theme = signal<Theme>(readTheme());

/** Uses and remembers a theme. */
export function chooseTheme(choice: Theme): void {
  theme.value = choice;
  const { dataset } = document.documentElement;
  if (choice === 'system') delete dataset['theme'];
  else dataset['theme'] = choice;
  try {
    localStorage.setItem(themeKey, choice);
  } catch {
    // A browser that keeps nothing forgets the choice with the page.
  }
}
