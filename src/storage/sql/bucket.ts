import { crc32 } from 'node:zlib';

/** How many buckets devices are spread over; a range of them can move to another database. */
export const buckets = 1_024;

/** The bucket of a device, and of all that it has. */
export const bucketOf = (deviceId: string): number => crc32(deviceId) % buckets;
