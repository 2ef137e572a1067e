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
  noHours: 'Za zamani zaidi hazihifadhiwi.',
  sensor: 'Imewekwa kwa kihisi.',
  device: 'Imewekwa kwa kifaa.',
  user: 'Imewekwa kwa akaunti ya mmiliki.',
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
  ownHolds: 'Vihisi na vifaa vyenye mpangilio wao vinafuata huo.',
  rawDays: 'Siku za kuhifadhi thamani',
  hourlyDays: 'Siku za kuhifadhi muhtasari wa saa',
  empty: 'Tupu: milele.',
  hourlyHint:
    'Grafu za vipindi virefu hutumia muhtasari wa kila saa: ya chini, ya juu na jumla. ' +
    'Tupu: milele.',
  badDays: 'Andika siku kwa namba nzima, isiyozidi {max}, au acha tupu.',
  tooShort: 'Muhtasari wa saa unahifadhiwa angalau muda sawa na thamani.',
  askTitle: 'Futa thamani za zamani?',
  ask: {
    one: 'Thamani za zaidi ya siku {count} zitafutwa, sasa na siku zijazo. Haziwezi kurudishwa.',
    other: 'Thamani za zaidi ya siku {count} zitafutwa, sasa na siku zijazo. Haziwezi kurudishwa.',
  },
  older: {
    one: 'Leo thamani {count} ni ya zamani hivyo.',
    other: 'Leo thamani {count} ni za zamani hivyo.',
  },
  doDelete: 'Futa thamani za zamani',
  outer: 'Tumia mpangilio wa jumla',
  outerAsk:
    'Mpangilio wa kifaa, akaunti au huduma nzima utatumika tena. Hilo linaweza kufuta ' +
    'thamani za zamani.',
};
