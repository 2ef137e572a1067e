import type { Translation } from '../dictionary.ts';

/** What is used of every budget, for administrators. */
export const usage: Translation<'usage'> = {
  title: 'Matumizi',
  text:
    'Vinavyoshirikiwa na akaunti zote na wageni, na nani anatumia zaidi. Msimamizi ' +
    'hubadilisha jumla kwa KIPIMO_BUDGETS.',
  again: 'Tazama tena',
  of: '{used} kati ya {total}',
  guests: 'wageni {used}',
  most: 'zaidi: {names}',
  refused: { one: '{count} lilikataliwa tangu kuanza', other: '{count} yalikataliwa tangu kuanza' },
  connections: 'Miunganisho',
  partial_bytes: 'Maombi na pakiti ambazo hazijakamilika',
  answer_bytes: 'Majibu ambayo bado hayajasomwa',
  notification_bytes: 'Tahadhari kwenye kumbukumbu',
  silences: 'Ukimya unaoangaliwa',
  previews: 'Hakikisho za tahadhari',
  mqtt_sessions: 'Vipindi vya MQTT',
  mqtt_session_bytes: 'Usajili wa vipindi vya MQTT',
  mqtt_will_bytes: 'Wosia wa mwisho',
  mqtt_queued_bytes: 'Ujumbe unaosubiri wateja wa MQTT',
  timed_settings: 'Vidhibiti vilivyowekwa kwa muda',
  mqtt_retained: 'Ujumbe uliohifadhiwa',
  mqtt_retained_bytes: 'Baiti za ujumbe uliohifadhiwa',
  mqtt_publish_bytes: 'Ujumbe wa MQTT unaoingia',
  mqtt_store_changes: 'Mabadiliko ya MQTT ambayo hayajahifadhiwa',
  long_reads: 'Usomaji mrefu',
};
