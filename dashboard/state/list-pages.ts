/** Devices that home asks for at once. */
export const homePage = 48;

/** Devices that the map asks for. */
export const mapPage = 1_000;
