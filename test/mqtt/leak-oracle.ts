import { type Asker, lookingAtActuators, rightsOn, type Subject } from '../v2/rights-oracle.ts';

/** What a topic carries, as far as rights depend on it. */
export type Kind = 'value' | 'values' | 'actuator' | 'free' | 'gateway';

/** A device, or a gateway, that topics are below. */
export type TopicOwner = Subject & { readonly isGateway?: boolean };

/** What changes while clients are subscribed. */
export interface Moment {
  readonly name: string;
  /** Places made private; the others are as they were made. */
  readonly hidden: readonly string[];
  /** Places made public. */
  readonly shown: readonly string[];
  /** Places whose grants were taken back. */
  readonly revoked: readonly string[];
}

/** Who receives, with what was granted on every gateway that has an owner. */
export type Receiver = Asker & { readonly mayUpdateGateways?: boolean };

/**
 * Whether the client may get a message about the place at this moment: the sentences of
 * [contract 4, 8] once more, written down without a look at the service.
 */
export function mayGet(
  receiver: Receiver,
  kind: Kind,
  place: TopicOwner,
  { hidden, shown, revoked }: Moment,
): boolean {
  const { granted = [], ...others } = receiver;
  const isRevoked = revoked.includes(place.id);
  const isPrivate = hidden.includes(place.id) || (place.isPrivate && !shown.includes(place.id));
  if (kind === 'gateway') return mayUpdateGateway(receiver, place, isRevoked);
  const asker = { ...others, granted: isRevoked ? [] : granted };
  const rights = rightsOn(
    kind === 'actuator' ? lookingAtActuators(asker) : asker,
    { ...place, isPrivate },
    'open',
  );
  return rights.includes(kind === 'free' ? 'devices:update' : 'devices-data:view');
}

/** A key that is narrowed to scopes or devices of the matrix opens no gateway. */
function mayUpdateGateway(receiver: Receiver, gateway: TopicOwner, isRevoked: boolean): boolean {
  const { key, username, isAdmin, mayUpdateGateways } = receiver;
  if (key?.scopes !== undefined || key?.devices !== undefined) return false;
  if (gateway.owner === 'guest' || isAdmin === true || username === gateway.owner) return true;
  return mayUpdateGateways === true && !isRevoked;
}
