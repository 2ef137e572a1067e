import type { Translation } from '../dictionary.ts';

/** What was sent to a device and refused. */
export const refused: Translation<'refused'> = {
  title: 'Kilifika, lakini kilikataliwa',
  times: { one: 'mara {count}', other: 'mara {count}' },
  no_key:
    'Kilikuja bila ufunguo. Nakili mistari pamoja na ufunguo wake, au tengeneza ufunguo ' +
    'hapo juu.',
  wrong_key:
    'Ufunguo si sahihi: herufi imekosekana, au ufunguo ulifutwa. Tengeneza mpya hapo ' + 'juu.',
  not_allowed:
    'Ufunguo ni wa kifaa au akaunti nyingine, au hauruhusiwi kutuma. Tengeneza mwingine ' +
    'hapo juu.',
  unknown_device: 'Kilitumwa kwa kifaa “{device}”, ambacho hakipo. Hiki kinaitwa “{own}”.',
  unknown_sensor: 'Kilitumwa kwa kihisi “{sensor}”, ambacho hakipo. Kifaa hiki kina: {sensors}.',
  wrong_path:
    'Kilitumwa kwa anwani au mada (topic) isiyokuwepo hapa. Linganisha na mistari ya ' +
    'hapo juu, herufi kwa herufi.',
  unreadable: 'Thamani haisomeki. Andika desimali kwa nukta, na maandishi kati ya alama za nukuu.',
  clock_ahead:
    'Wakati uliomo uko mbele kwa zaidi ya siku moja. Rekebisha saa ya kifaa, au usitume ' +
    'wakati.',
  too_large: 'Kilichotumwa ni kikubwa mno.',
  too_often:
    'Kinatuma, au kinajaribu kuingia, mara nyingi mno. Subiri dakika moja, kisha tuma ' +
    'mara chache.',
  no_room: 'Hakuna nafasi tena. Futa kitu, au muulize msimamizi.',
  unavailable: 'Huduma haikuweza kukihifadhi wakati huo. Kifaa kinapaswa kutuma tena.',
  elements:
    'Kati ya thamani kadhaa katika ujumbe mmoja, hizi zilikataliwa; nyingine zimehifadhiwa:',
  element: 'Na. {place}: {excerpt}',
  addSensor: 'Ongeza kihisi',
};
