import type { Wire } from '../../src/wire/fields.ts';
import type { SocialMessage } from '../../src/wire/social.ts';

/** A message between people. */
export type Social = Wire<typeof SocialMessage>;
