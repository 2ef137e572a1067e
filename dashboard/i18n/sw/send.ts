import type { Translation } from '../dictionary.ts';

/** How a device sends its values: lines to copy, a key, a QR code. */
export const send: Translation<'send'> = {
  title: 'Tuma thamani',
  text:
    'Nakili mistari hii kwenye programu yako, yenye vitambulisho vya kifaa hiki, au ' +
    'andika thamani kwa mkono.',
  sensor: 'Kihisi',
  way: 'Kwa',
  public: 'Kifaa hiki ni cha wote: yeyote anayejua kitambulisho chake anaweza kukitumia thamani.',
  private:
    'Kifaa hiki ni cha faragha: kutuma kunahitaji ufunguo. Hauishi muda, na ni wa ' +
    'kifaa hiki tu.',
  granted:
    'Wote wanakiona kifaa hiki, lakini kutuma kunahitaji ufunguo. Hauishi muda, na ni wa ' +
    'kifaa hiki tu.',
  makeKey: 'Tengeneza ufunguo wa kifaa hiki',
  keyName: 'kifaa {name}',
  keyMade: 'Ufunguo uko kwenye mistari iliyo hapa chini. Unaonyeshwa mara hii tu: inakili sasa.',
  keyListens:
    'Kwa vidhibiti vya kifaa hiki, ufunguo unaotengenezwa hapa hupokea mipangilio yao na ' +
    'kuithibitisha.',
  listen: '{name} imewekwa vipi',
  listenText: 'Kwa MQTT, hii huonyesha kila mpangilio wa {name} unapofika:',
  control: 'Kidhibiti',
  askText: 'Hii huuliza {name} imewekwa vipi:',
  pythonListens:
    'Programu hii, yenye kifurushi paho-mqtt, hupokea kila mpangilio wa {name} na kuuthibitisha:',
  sketchListens:
    'Mchoro (sketch) hapo juu hutuma thamani, hupokea mpangilio wa {name} na kuuthibitisha. ' +
    'Unahitaji maktaba ya PubSubClient (Tools, Manage Libraries).',
  confirmText: 'Bodi ikishafanya hivyo, husema hivi:',
  confirm: 'Thibitisha',
  qr: 'Msimbo wa QR',
  qrText: 'Hufungua kifaa hiki kwenye simu nyingine. Uchapishe na uubandike kwenye boksi.',
  noSensor: 'Ongeza kihisi kwanza. Kisha mistari itaonekana hapa.',
  keyNeeded: 'Mistari huonyeshwa ikiwa na ufunguo, tayari kutumika.',
  board: 'Bodi',
  wifi: 'Jina la Wi-Fi yako',
  wifiPassword: 'Nenosiri lake',
  wifiHint: 'Vyote hubaki kwenye ukurasa huu. Huwekwa kwenye mistari tu.',
  wifiFirst: 'Andika jina la Wi-Fi yako. Kisha mistari itaonekana hapa.',
  noHttps: 'Bodi hii haiwezi kutumia HTTPS: inahitaji anwani ya huduma inayoanza na http://.',
  addSensor: 'Ongeza kihisi',
  loginForKey: 'Ingia ili kutengeneza ufunguo: kutuma kwa kifaa hiki kunauhitaji.',
  byHand: 'Kwa mkono',
  handNone: 'Andika kwanza ulichosoma.',
  handNumber: 'Kihisi hiki hupima namba: andika namba, kwa mfano 12.5.',
  handBadTime: 'Wakati huu haupo.',
  handHint: 'Namba au neno.',
  handTime: 'Wakati wa kusoma',
  handTimeHint: 'Ikiwa tupu: sasa.',
  handSave: 'Hifadhi thamani',
  handSaved: 'Imehifadhiwa',
  handKept: 'Hakuna mtandao: thamani inahifadhiwa hapa na itatumwa mtandao ukirudi.',
  handWaiting: {
    one: 'Thamani {count} inasubiri mtandao.',
    other: 'Thamani {count} zinasubiri mtandao.',
  },
};
