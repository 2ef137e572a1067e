import type { Translation } from '../dictionary.ts';

/** For how long values are kept, what goes next and when, and how to set it. */
export const retention: Translation<'retention'> = {
  title: 'Thamani zinahifadhiwa kwa muda gani',
  forEver: 'Thamani zote zinahifadhiwa milele.',
  days: {
    one: 'Thamani zinahifadhiwa kwa siku {count}.',
    other: 'Thamani zinahifadhiwa kwa siku {count}.',
  },
  hours: {
    one: 'Muhtasari wa kila saa unahifadhiwa kwa siku {count}.',
    other: 'Muhtasari wa kila saa unahifadhiwa kwa siku {count}.',
  },
  hoursForEver: 'Muhtasari wa kila saa unahifadhiwa milele.',
  noHours: 'Za zamani zaidi hazibaki kabisa.',
  sensor: 'Imewekwa kwa kihisi.',
  device: 'Imewekwa kwa kifaa.',
  user: 'Imewekwa kwa akaunti ya mwenye kifaa.',
  service: 'Imewekwa kwa huduma nzima.',
  nextNow: {
    one: 'Thamani {count} ya kabla ya {before} itafutwa ndani ya saa moja.',
    other: 'Thamani {count} za kabla ya {before} zitafutwa ndani ya saa moja.',
  },
  nextOn: {
    one: 'Thamani {count} ya kabla ya {before} itafutwa tarehe {day}.',
    other: 'Thamani {count} za kabla ya {before} zitafutwa tarehe {day}.',
  },
  nextNone: 'Kabla ya {day} hakuna kinachofutwa.',
  ownHolds: 'Vihisi na vifaa vyenye mpangilio wao wenyewe vinaufuata huo.',
  rawDays: 'Siku za kuhifadhi thamani',
  hourlyDays: 'Siku za kuhifadhi saa',
  empty: 'Tupu: milele.',
  hourlyHint: 'Chati za muda mrefu zinaendelea kwa saa: ya chini, ya juu na jumla. Tupu: milele.',
  badDays: 'Andika idadi kamili ya siku, isiyozidi {max}, au acha tupu.',
  tooShort: 'Saa zinahifadhiwa angalau muda sawa na thamani.',
  askTitle: 'Futa thamani za zamani?',
  ask: {
    one: 'Thamani za zaidi ya siku {count} zitafutwa, sasa na kuanzia sasa. Haziwezi kurudishwa.',
    other: 'Thamani za zaidi ya siku {count} zitafutwa, sasa na kuanzia sasa. Haziwezi kurudishwa.',
  },
  older: {
    one: 'Leo thamani {count} ni ya zamani hivyo.',
    other: 'Leo thamani {count} ni za zamani hivyo.',
  },
  doDelete: 'Futa thamani za zamani',
  outer: 'Usiweke kitu hapa',
  outerAsk:
    'Kilichowekwa kwa kifaa, akaunti au huduma nzima kitatumika tena. Hilo linaweza kufuta ' +
    'thamani za zamani.',
};
