import type { MessageKey } from '../i18n/dictionary.ts';
import { Start } from '../screens/home/start.tsx';
import type { Screen } from './screen.ts';

export interface ScreenRoute {
  readonly path: string;
  /** Said in the title of the window; screens that know better set their own. */
  readonly title: MessageKey;
  /** There at once, as a part of the first load: a round trip less where it matters most. */
  readonly screen?: Screen;
  /** Loaded when first shown. */
  readonly load: () => Promise<Screen>;
  /** Who is not logged in is asked to. */
  readonly needsLogin?: true;
}

/** Every screen and its address. A new screen is a file below screens/ and one entry here. */
export const routes: readonly ScreenRoute[] = [
  {
    path: '/',
    title: 'shell.home',
    screen: Start,
    load: async () => Start,
  },
  {
    path: '/login',
    title: 'shell.login',
    load: () => import('../screens/welcome/login.tsx').then(({ Login }) => Login),
  },
  {
    path: '/first',
    title: 'welcome.firstTitle',
    load: () => import('../screens/welcome/first-login.tsx').then(({ FirstLogin }) => FirstLogin),
  },
  {
    path: '/signup',
    title: 'shell.signup',
    load: () => import('../screens/welcome/signup.tsx').then(({ Signup }) => Signup),
  },
  {
    path: '/join/:token',
    title: 'invite.one',
    load: () => import('../screens/invitation/join.tsx').then(({ Join }) => Join),
  },
  {
    path: '/devices/:device',
    title: 'device.name',
    load: () => import('../screens/device/device.tsx').then(({ DeviceScreen }) => DeviceScreen),
  },
  {
    path: '/devices/:device/settings',
    title: 'device.settings',
    load: () =>
      import('../screens/device/settings.tsx').then(({ DeviceSettings }) => DeviceSettings),
  },
  {
    path: '/devices/:device/new-sensor',
    title: 'device.addSensor',
    load: () => import('../screens/device/new-sensor.tsx').then(({ NewSensor }) => NewSensor),
  },
  {
    path: '/devices/:device/sensors/:sensor',
    title: 'device.sensor',
    load: () => import('../screens/device/sensor.tsx').then(({ SensorScreen }) => SensorScreen),
  },
  {
    path: '/devices/:device/new-actuator',
    title: 'device.addActuator',
    load: () => import('../screens/device/actuator.tsx').then(({ NewActuator }) => NewActuator),
  },
  {
    path: '/devices/:device/actuators/:actuator',
    title: 'device.actuator',
    load: () =>
      import('../screens/device/actuator.tsx').then(({ ActuatorScreen }) => ActuatorScreen),
  },
  {
    path: '/devices/:device/data',
    title: 'data.title',
    load: () => import('../screens/device/data.tsx').then(({ DeviceData }) => DeviceData),
  },
  {
    path: '/devices/:device/send',
    title: 'send.title',
    load: () => import('../screens/device/send.tsx').then(({ DeviceSend }) => DeviceSend),
  },
  {
    path: '/devices/:device/share',
    title: 'sharing.mine',
    needsLogin: true,
    load: () => import('../screens/device/share.tsx').then(({ DeviceShare }) => DeviceShare),
  },
  {
    path: '/sharing',
    title: 'sharing.mine',
    needsLogin: true,
    load: () => import('../screens/sharing/sharing.tsx').then(({ Sharing }) => Sharing),
  },
  {
    path: '/groups',
    title: 'groups.title',
    needsLogin: true,
    load: () => import('../screens/groups/groups.tsx').then(({ Groups }) => Groups),
  },
  {
    path: '/groups/:group',
    title: 'groups.one',
    needsLogin: true,
    load: () => import('../screens/groups/group.tsx').then(({ GroupScreen }) => GroupScreen),
  },
  {
    path: '/profile/:part?',
    title: 'profile.title',
    needsLogin: true,
    load: () => import('../screens/profile/profile.tsx').then(({ Profile }) => Profile),
  },
  {
    path: '/new-device',
    title: 'start.title',
    load: () => import('../screens/new-device/new-device.tsx').then(({ NewDevice }) => NewDevice),
  },
  {
    path: '/forgotten',
    title: 'welcome.forgottenTitle',
    load: () => import('../screens/welcome/forgotten.tsx').then(({ Forgotten }) => Forgotten),
  },
  {
    path: '/map',
    title: 'shell.map',
    load: () => import('../screens/map/map.tsx').then(({ MapScreen }) => MapScreen),
  },
  {
    path: '/gateways',
    title: 'shell.gateways',
    needsLogin: true,
    load: () => import('../screens/gateways/gateways.tsx').then(({ Gateways }) => Gateways),
  },
  {
    path: '/gateways/:gateway',
    title: 'gateways.one',
    load: () =>
      import('../screens/gateways/gateway.tsx').then(({ GatewayScreen }) => GatewayScreen),
  },
  {
    path: '/gateways/:gateway/share',
    title: 'sharing.mine',
    needsLogin: true,
    load: () =>
      import('../screens/sharing/group-share.tsx').then(({ GatewayShare }) => GatewayShare),
  },
  {
    path: '/projects',
    title: 'shell.projects',
    needsLogin: true,
    load: () => import('../screens/projects/projects.tsx').then(({ Projects }) => Projects),
  },
  {
    path: '/projects/:project',
    title: 'projects.one',
    load: () =>
      import('../screens/projects/project.tsx').then(({ ProjectScreen }) => ProjectScreen),
  },
  {
    path: '/alerts',
    title: 'shell.alerts',
    needsLogin: true,
    load: () => import('../screens/alerts/alerts.tsx').then(({ Alerts }) => Alerts),
  },
  {
    path: '/alerts/new',
    title: 'alerts.new',
    needsLogin: true,
    load: () => import('../screens/alerts/new-alert.tsx').then(({ NewAlert }) => NewAlert),
  },
  {
    path: '/alerts/:alert',
    title: 'alerts.one',
    needsLogin: true,
    load: () => import('../screens/alerts/alert.tsx').then(({ AlertScreen }) => AlertScreen),
  },
  {
    path: '/alerts/:alert/edit',
    title: 'alerts.edit',
    needsLogin: true,
    load: () => import('../screens/alerts/new-alert.tsx').then(({ EditAlert }) => EditAlert),
  },
  {
    path: '/messages',
    title: 'messages.title',
    needsLogin: true,
    load: () => import('../screens/messages/messages.tsx').then(({ Messages }) => Messages),
  },
  {
    path: '/usage',
    title: 'usage.title',
    needsLogin: true,
    load: () => import('../screens/usage/usage.tsx').then(({ Usage }) => Usage),
  },
  {
    path: '/users',
    title: 'shell.users',
    needsLogin: true,
    load: () => import('../screens/users/users.tsx').then(({ Users }) => Users),
  },
  {
    path: '/users/import',
    title: 'users.importTitle',
    needsLogin: true,
    load: () => import('../screens/users/import.tsx').then(({ ImportUsers }) => ImportUsers),
  },
  {
    path: '/users/:user',
    title: 'users.one',
    needsLogin: true,
    load: () => import('../screens/users/user.tsx').then(({ UserScreen }) => UserScreen),
  },
  {
    path: '/projects/:project/share',
    title: 'sharing.mine',
    needsLogin: true,
    load: () =>
      import('../screens/sharing/group-share.tsx').then(({ ProjectShare }) => ProjectShare),
  },
  {
    path: '/more',
    title: 'shell.more',
    load: () => import('../screens/more/more.tsx').then(({ More }) => More),
  },
];

/** Shown where no route fits. */
export const loadMissing = (): Promise<Screen> =>
  import('../screens/missing/missing.tsx').then(({ Missing }) => Missing);
