/** For lists of devices: photos are shown on the screen of their device alone. */
export const withoutPhotos = { meta: 'short' } as const;

/** Devices that home asks for at once. */
export const homePage = 48;

/** Devices that the map asks for. */
export const mapPage = 1_000;
