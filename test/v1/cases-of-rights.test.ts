import { casesInV1 } from './version-2-cases.ts';

casesInV1('rights');
