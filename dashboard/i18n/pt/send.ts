import type { Translation } from '../dictionary.ts';

/** How a device sends its values: lines to copy, a key, a QR code. */
export const send: Translation<'send'> = {
  title: 'Enviar valores',
  text: 'Copie estas linhas para o que está a construir. Os ids já são os deste dispositivo.',
  sensor: 'Sensor',
  way: 'Com',
  public: 'Este dispositivo é público: quem souber o id pode enviar-lhe valores.',
  private:
    'Este dispositivo é privado: para enviar é preciso uma chave. Não expira, e não ' +
    'permite mais nada.',
  makeKey: 'Criar uma chave para este dispositivo',
  keyName: 'dispositivo {name}',
  keyMade: 'A chave está nas linhas abaixo. Só é mostrada desta vez: copie-as agora.',
  keyPlace: 'Ponha a sua chave onde diz {place}.',
  qr: 'Código QR',
  qrText: 'Abre este dispositivo noutro telefone. Imprima-o e cole-o na caixa.',
  noSensor: 'Adicione primeiro um sensor; depois as linhas estão aqui.',
};
