import type { Translation } from '../dictionary.ts';

/** What was sent to a device and refused. */
export const refused: Translation<'refused'> = {
  title: 'Isto chegou, e foi recusado',
  times: { one: '{count} vez', many: '{count} vezes', other: '{count} vezes' },
  no_key: 'Veio sem chave. Copie as linhas com a chave, ou crie uma acima.',
  wrong_key: 'A chave está errada: falta uma letra, ou foi apagada. Crie uma nova acima.',
  not_allowed: 'A chave é de outro dispositivo ou conta, ou não pode enviar. Crie uma acima.',
  unknown_device:
    'Foi enviado ao dispositivo “{device}”, que não existe. Este chama-se ' + '“{own}”.',
  unknown_sensor:
    'Foi enviado ao sensor “{sensor}”, que não existe. Este dispositivo tem: ' + '{sensors}.',
  wrong_path:
    'Foi enviado a um endereço ou tópico que não existe aqui. Compare com as linhas ' +
    'acima, letra a letra.',
  unreadable: 'Não se consegue ler o valor. Escreva os decimais com ponto, e o texto entre aspas.',
  clock_ahead:
    'A hora indicada está mais de um dia adiantada. Acerte o relógio do dispositivo, ou ' +
    'não envie hora.',
  too_large: 'O que foi enviado é demasiado grande.',
  too_often: 'Envia, ou tenta entrar, demasiadas vezes. Espere um minuto e envie menos vezes.',
  no_room: 'Já não há espaço. Apague algo, ou peça a um administrador.',
  unavailable:
    'O serviço não o conseguiu guardar nesse momento. O dispositivo deve enviar de ' + 'novo.',
  elements: 'De vários valores num só envio, estes foram recusados; os outros foram guardados:',
  element: 'N.º {place}: {excerpt}',
  addSensor: 'Adicionar um sensor',
};
