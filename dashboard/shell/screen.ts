import type { ComponentType } from 'preact';

/** What a screen is handed: the blanks of its path, decoded. */
export interface ScreenProps {
  readonly params: Readonly<Record<string, string>>;
}

export type Screen = ComponentType<ScreenProps>;
