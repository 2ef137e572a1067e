/** For lists of devices: photos are shown on the screen of their device alone. */
export const withoutPhotos = { meta: 'short' } as const;

/** Devices that home asks for at once. */
export const homePage = 48;

/** Devices that the map asks for. */
export const mapPage = 1_000;

/** The alerts that a user made, newest first; of an empty name, those of everybody. */
export const alertsOf = (owner: string, limit = 1_000) => ({ owner, sort: 'dsc', limit }) as const;
