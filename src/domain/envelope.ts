/**
 * What a door sends along with a push to those who watch, for instance how reliably it is to be
 * delivered. Only the door that made it can read it; it is never stored.
 */
export type Envelope = object;
