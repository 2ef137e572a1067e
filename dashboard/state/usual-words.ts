import { inReadersWords } from '../i18n/usual-names.ts';
import { usualWords } from './sensor-name.ts';

// Screens without live values import them for their own sentences.
usualWords.value = inReadersWords;
