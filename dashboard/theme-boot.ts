// Runs before the first paint, so that a chosen theme never flashes the other one.
import { readTheme } from './state/theme-choice.ts';

const theme = readTheme();
if (theme !== 'system') document.documentElement.dataset['theme'] = theme;
