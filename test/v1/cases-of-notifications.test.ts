// In a process of its own: each starts one more, which takes long.
import { casesInV1 } from './version-2-cases.ts';

casesInV1('notifications');
