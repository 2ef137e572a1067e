import { compatibleV2Routes, type EndpointServices } from './compatible/endpoints.ts';
import { createVersionDocument, type OpenApiDocument } from './openapi.ts';
import type { Route } from './route.ts';
import { textToV1 } from './v1/dictionary.ts';

/** The OpenAPI documents of both versions; each is made when it is asked for. */
export function versionDocuments(options: {
  readonly version: string;
  readonly routes: Readonly<Record<'v1' | 'v2', readonly Route[]>>;
  readonly services: EndpointServices;
}): Readonly<Record<'v2' | 'v1', () => OpenApiDocument>> {
  const { version, routes, services } = options;
  return {
    v2: () =>
      createVersionDocument('v2', {
        ...{ version, routes: [...routes.v2, ...compatibleV2Routes(services)] },
      }),
    v1: () => createVersionDocument('v1', { version, routes: routes.v1, inWords: textToV1 }),
  };
}
