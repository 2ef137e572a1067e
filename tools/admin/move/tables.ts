/** The values of a row: texts, numbers and bytes, by the names of its columns. */
export type MovedRow = Readonly<Record<string, MovedValue>>;
export type MovedValue = string | number | Uint8Array | null;

/** A table that both engines have, with the columns that mean the same in both. */
export interface MovedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns that each engine has numbers of its own for: they are not compared. */
  readonly loose: readonly string[];
  /** Rows of one page: a few megabytes at most. */
  readonly pageRows: number;
}

const few = 16;
const some = 64;
const many = 500;

function table(
  name: string,
  columns: string,
  options: { readonly loose?: readonly string[]; readonly pageRows?: number } = {},
): MovedTable {
  const { loose = [], pageRows = many } = options;
  return { name, columns: columns.split(' '), loose, pageRows };
}

const message = 'topic payload qos properties expires_at publisher';

/**
 * The tables that are moved, in an order in which rows come after those that they belong to. All
 * datapoints are in chunks by then. Data that a service makes anew by itself, such as the number of
 * its commits, is not among them.
 */
export const movedTables: readonly MovedTable[] = [
  table('installation_settings', 'name value'),
  table(
    'users',
    'position id username email_key email_proof password_hash created_at is_admin is_disabled ' +
      'sms_credit profile proofs webhook_secret is_signup is_password_initial last_login_at',
  ),
  table(
    'login_sessions',
    'id user_id hash replaced_hash replaced_at created_at last_used_at expires_at details',
  ),
  table('tokens', 'position hash user_id expires_at logged_in_at session_id'),
  table('access_keys', 'position id hash user_id created_at expires_at details'),
  table('login_networks', 'user_id network last_at'),
  table('password_resets', 'user_id code_hash expires_at proven_at'),
  table('failures', 'limiter key failures ends_at'),
  table('call_texts', 'call_id text until'),
  table('grants', 'kind resource username scopes'),
  table('user_groups', 'position id owner details'),
  table('group_members', 'username group_id'),
  table('group_grants', 'group_id kind resource scopes'),
  table(
    'invitations',
    'position id hash user_id created_at expires_at uses_left is_revoked details',
    { pageRows: some },
  ),
  table('invitation_uses', 'invitation user_id is_given'),
  table(
    'devices',
    'position id owner visibility gateway_id domain created_at modified_at details stranger_bytes',
    { pageRows: some },
  ),
  table(
    'sensors',
    'series device_id sensor_id details sealed bytes last_at last_received last_value',
    { pageRows: some },
  ),
  table('actuators', 'position device_id actuator_id details', { pageRows: some }),
  table('chunks', 'id series min_time max_time count points summary', { pageRows: some }),
  table('damaged_points', 'id series min_time max_time count points', {
    loose: ['id'],
    pageRows: some,
  }),
  table(
    'corrections',
    'position id series kind from_time to_time until ahead_from ahead_to count by created_at ' +
      'details',
    { pageRows: some },
  ),
  table('hourly_summaries', 'series day summary'),
  table('retained_series', 'series datapoints raw_before open_hour'),
  table('retentions', 'series device username raw_days hourly_days'),
  table(
    'gateways',
    'position id owner visibility last_seen_at status created_at modified_at details',
    { pageRows: some },
  ),
  table('projects', 'position id owner details'),
  table('project_members', 'project kind resource'),
  table('socials', 'position id sender recipient status created_at details'),
  table(
    'notifications',
    'position id owner is_active created_at modified_at details times_sent last_fired_at ' +
      'last_success_at last_success_code last_failure_at last_failure_reason',
  ),
  table('notification_states', 'notification device_id state'),
  table(
    'deliveries',
    'position notification social payer channel status attempts created_at due_at sent_at ' +
      'is_charged token details',
  ),
  table('paid_messages', 'day payer channel count'),
  table('mqtt_sessions', 'session identity client_id expiry_seconds left_at payer'),
  table(
    'mqtt_subscriptions',
    'position session filter qos no_local retain_as_published retain_handling identifier',
  ),
  table('mqtt_messages', `message retain ${message}`, { pageRows: few }),
  table('mqtt_queue', 'position session packet_id message qos retain identifiers'),
  table('mqtt_received', 'session packet_id handed_on'),
  table('mqtt_retained', `position payer ${message}`, { pageRows: few }),
];
