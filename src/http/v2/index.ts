import type { Route } from '../route.ts';
import { noSite, type Site } from '../site.ts';
import { actuatorRoutes } from './actuators.ts';
import { adminRoutes } from './admin.ts';
import { authRoutes } from './auth.ts';
import { correctionRoutes } from './corrections.ts';
import { bulkPushRoute, datapointRoutes } from './datapoints.ts';
import { deviceRoutes } from './devices.ts';
import { gatewayRoutes } from './gateways.ts';
import { groupRoutes } from './groups.ts';
import { exportRoutes, mergedReadRoutes } from './merged-reads.ts';
import { notificationRoutes } from './notifications.ts';
import { ontologyRoutes } from './ontologies.ts';
import { projectRoutes } from './projects.ts';
import { retentionRoutes } from './retentions.ts';
import { sensorRoutes } from './sensors.ts';
import type { RouteParts, Services } from './services.ts';
import { grantRoutes, invitationRoutes, myGrantsRoute } from './sharing.ts';
import { socialRoutes } from './socials.ts';
import { userRoutes } from './users.ts';

/** Makers of routes, in the order of the specification. */
const makers: readonly ((parts: RouteParts) => readonly Route[])[] = [
  ...[authRoutes, deviceRoutes, sensorRoutes, actuatorRoutes, datapointRoutes, correctionRoutes],
  ...[retentionRoutes, bulkPushRoute, mergedReadRoutes, exportRoutes, grantRoutes('device')],
  ...[gatewayRoutes, grantRoutes('gateway'), projectRoutes, grantRoutes('project'), groupRoutes],
  ...[invitationRoutes, userRoutes, myGrantsRoute, notificationRoutes, socialRoutes],
  ...[ontologyRoutes, adminRoutes],
];

/** All routes of version 2. */
export const v2Routes = (
  services: Services,
  tokenLifeSeconds: number,
  site: Site = noSite,
): readonly Route[] => makers.flatMap((make) => make({ ...services, tokenLifeSeconds, site }));
