import { join } from 'node:path';
import { type ChildService, startChildService } from './child-service.ts';

/** The admin of the service that is measured. */
export const benchLogin = { username: 'admin', password: 'password of the benchmark' } as const;

/** A fresh service in a process of its own, with its data in `directory`. */
export function startBenchService(
  directory: string,
  given: {
    readonly mqttPort: number;
    readonly environment?: Readonly<Record<string, string>>;
    /** The launcher of another version; absent: our own. */
    readonly program?: string;
    /** Where the service writes the profile that it is asked for; absent: it makes none. */
    readonly profileFile?: string;
  },
): Promise<ChildService> {
  return startChildService({
    words: given.profileFile === undefined ? ['serve'] : ['bench', 'profiled', given.profileFile],
    ...(given.program !== undefined && { program: given.program }),
    directory,
    environment: {
      KIPIMO_HOST: '127.0.0.1',
      KIPIMO_HTTP_PORT: '0',
      KIPIMO_MQTT_PORT: String(given.mqttPort),
      KIPIMO_DATA_DIR: join(directory, 'data'),
      KIPIMO_ADMIN_USERNAME: benchLogin.username,
      KIPIMO_ADMIN_PASSWORD: benchLogin.password,
      // One token for the whole run, however long its slices.
      KIPIMO_TOKEN_TTL_S: '86400',
      ...given.environment,
    },
  });
}
