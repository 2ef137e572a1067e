/** What a topic belongs to: it goes with it, and its rights are asked. */
export interface Place {
  readonly kind: 'device' | 'gateway';
  readonly id: string;
}

const pattern = /^(device|gateway)s\/([^/]+)\//;

/** The device or gateway below which a topic is; undefined where there can be none. */
export function placeOf(topic: string): Place | undefined {
  const [, kind, id] = pattern.exec(topic) ?? [];
  if (id === undefined) return undefined;
  return { kind: kind === 'gateway' ? 'gateway' : 'device', id };
}

/** What the topics of a device or gateway begin with. */
export const topicsOf = ({ kind, id }: Place): string => `${kind}s/${id}/`;

/** What the topics of a sensor or actuator begin with. */
export const topicsOfPart = (deviceId: string, kind: 'sensor' | 'actuator', id: string): string =>
  `devices/${deviceId}/${kind}s/${id}/`;
