import type { Scope } from './access/scopes.ts';
import type { AccessKeyId, DeviceId, UserId, Username } from './ids.ts';

/** What an access key narrows its owner to; absent lists narrow nothing. */
export interface KeyLimits {
  readonly keyId: AccessKeyId;
  readonly scopes?: ReadonlySet<Scope>;
  readonly devices?: ReadonlySet<DeviceId>;
}

/** Who is asking. A key acts as its owner, within its limits. */
export type Actor =
  | { readonly kind: 'guest' }
  | {
      readonly kind: 'user' | 'admin';
      readonly userId: UserId;
      readonly username: Username;
      readonly key?: KeyLimits;
    };

export const guest: Actor = { kind: 'guest' };
