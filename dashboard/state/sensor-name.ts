import { signal } from '@preact/signals';
import type { Sensor } from '../api/types.ts';
import { language } from '../i18n/i18n.ts';
import type { inReadersWords } from '../i18n/usual-names.ts';

/** Names that the dashboard gives, in each language; they come with the live values. */
export const usualWords = signal<typeof inReadersWords>();

/**
 * What a sensor is called on screens: as its owner said, or in the language of the reader where
 * the dashboard gave the name [decision 0049].
 */
export const sensorName = ({ id, name }: Pick<Sensor, 'id' | 'name'>): string =>
  name ? (usualWords.value?.(name, language.value) ?? name) : id;
