/** Whether a screen, by its path or route, says no more than the frame, a device and the map do. */
export const saysLittle = (path: string): boolean => /^\/(?:map|devices\/[^/]+)$/.test(path);
