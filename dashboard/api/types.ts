import type { SettableActuatorMessage } from '../../src/wire/actuator.ts';
import type { CorrectionMessage } from '../../src/wire/correction.ts';
import type { AccessKeyMessage, BrowserSessionMessage } from '../../src/wire/credentials.ts';
import type { LastValueMessage } from '../../src/wire/datapoint.ts';
import type { DeviceMessage } from '../../src/wire/device.ts';
import type { LocationMessage, Wire } from '../../src/wire/fields.ts';
import type { GatewayMessage } from '../../src/wire/gateway.ts';
import type { GroupMessage } from '../../src/wire/group.ts';
import type { ProjectMessage } from '../../src/wire/project.ts';
import type { RefusalMessage } from '../../src/wire/refusal.ts';
import type { RetentionMessage } from '../../src/wire/retention.ts';
import type { CalibrationMessage, PointMessage, SensorMessage } from '../../src/wire/sensor.ts';
import type { BudgetMessage, ServiceMessage, SettingsMessage } from '../../src/wire/service.ts';
import type {
  AcceptedInvitationMessage,
  CreatedInvitationMessage,
  GrantMessage,
  InvitationMessage,
  MyGrantsMessage,
  OfferedInvitationMessage,
  PermissionMessage,
} from '../../src/wire/sharing.ts';
import type { ImportedUsersMessage, UserMessage } from '../../src/wire/user.ts';

/** Answers of API version 2: the types of its schemas, of which nothing is left in the build. */
export type Datapoint = Omit<Wire<typeof LastValueMessage>, 'date_received'> & {
  /** Absent of a value that came by MQTT. */
  readonly date_received?: string;
};
export type CalibrationPoint = Wire<typeof PointMessage>;
export type Calibration = Wire<typeof CalibrationMessage>;
export type Sensor = Omit<Wire<typeof SensorMessage>, 'last_value' | 'value'> & {
  readonly last_value?: Datapoint;
};
export type Correction = Wire<typeof CorrectionMessage>;
export type Actuator = Wire<typeof SettableActuatorMessage>;
export type ActuatorValueType = NonNullable<Actuator['actuator_value_type']>;
export type Location = Wire<typeof LocationMessage>;
export type Device = Omit<Wire<typeof DeviceMessage>, 'sensors' | 'actuators'> & {
  readonly sensors: readonly Sensor[];
  readonly actuators: readonly Actuator[];
};
export type User = Wire<typeof UserMessage>;
export type ImportedUser = Wire<typeof ImportedUsersMessage>[number];
export type Permission = Wire<typeof PermissionMessage>;
/** To a user, or to whoever is in a group. */
export type Grant = Wire<typeof GrantMessage>;
export type MyGrants = Wire<typeof MyGrantsMessage>;
export type Invitation = Wire<typeof InvitationMessage>;
export type CreatedInvitation = Wire<typeof CreatedInvitationMessage>;
export type OfferedInvitation = Wire<typeof OfferedInvitationMessage>;
export type AcceptedInvitation = Wire<typeof AcceptedInvitationMessage>;
export type Group = Wire<typeof GroupMessage>;
export type BrowserLogin = Wire<typeof BrowserSessionMessage>;
export type Budget = Wire<typeof BudgetMessage>;
export type ServiceState = Wire<typeof ServiceMessage>;
export type ServiceSettings = Wire<typeof SettingsMessage>;
export type Refusal = Wire<typeof RefusalMessage>;
export type Retention = Wire<typeof RetentionMessage>;
export type AccessKey = Wire<typeof AccessKeyMessage>;
export type Gateway = Omit<Wire<typeof GatewayMessage>, 'devices'> & {
  /** With full=true. */
  readonly devices?: readonly Device[];
};
export type Project = Omit<Wire<typeof ProjectMessage>, 'devices' | 'gateways'> & {
  /** With full=true: those one may see. */
  readonly devices?: readonly Device[];
  readonly gateways?: readonly Gateway[];
};

export interface Term {
  readonly id: string;
  readonly label: string;
  /** Of sensor kinds. */
  readonly quantity_kinds?: readonly string[];
  /** Of quantity kinds. */
  readonly units?: readonly string[];
}
