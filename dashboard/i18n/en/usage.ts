/** What is used of every budget, for administrators; the names are those of the budgets. */
export const usage = {
  title: 'Usage',
  text:
    'What all accounts and guests share, and who uses the most. An administrator changes ' +
    'the totals with KIPIMO_BUDGETS.',
  again: 'Look again',
  of: '{used} of {total}',
  guests: 'guests {used}',
  most: 'most: {names}',
  refused: { one: '{count} refused since the start', other: '{count} refused since the start' },
  connections: 'Connections',
  partial_bytes: 'Unfinished bodies and packets',
  answer_bytes: 'Answers that are not read yet',
  notification_bytes: 'Alerts in memory',
  silences: 'Watched silences',
  previews: 'Previews of alerts',
  mqtt_sessions: 'MQTT sessions',
  mqtt_session_bytes: 'Subscriptions of MQTT sessions',
  mqtt_will_bytes: 'Last wills',
  mqtt_queued_bytes: 'Messages that wait for MQTT clients',
  timed_settings: 'Controls set for a while',
  mqtt_retained: 'Retained messages',
  mqtt_retained_bytes: 'Bytes of retained messages',
  mqtt_publish_bytes: 'MQTT messages on their way in',
  mqtt_store_changes: 'MQTT changes not stored yet',
  long_reads: 'Long reads',
} as const;
