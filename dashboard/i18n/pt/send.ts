import type { Translation } from '../dictionary.ts';

/** How a device sends its values: lines to copy, a key, a QR code. */
export const send: Translation<'send'> = {
  title: 'Enviar valores',
  text:
    'Copie estas linhas para o seu programa, já com os ids deste dispositivo, ou ' +
    'escreva um valor à mão.',
  sensor: 'Sensor',
  way: 'Com',
  public: 'Este dispositivo é público: quem souber o id pode enviar-lhe valores.',
  private:
    'Este dispositivo é privado: para enviar é preciso uma chave. Não expira, e só ' +
    'serve para este dispositivo.',
  granted:
    'Todos veem este dispositivo, mas para enviar é preciso uma chave. Não expira, e só ' +
    'serve para este dispositivo.',
  makeKey: 'Criar uma chave para este dispositivo',
  keyName: 'dispositivo {name}',
  keyMade: 'A chave está nas linhas abaixo. Só é mostrada uma vez: copie-as agora.',
  keyListens:
    'Para os comandos deste dispositivo, uma chave criada aqui recebe os seus ajustes e ' +
    'confirma-os.',
  listen: 'Como está {name}',
  listenText: 'Por MQTT, isto mostra cada ajuste de {name} assim que chega:',
  control: 'Comando',
  askText: 'Isto pergunta como está {name}:',
  pythonListens:
    'Este programa, com o pacote paho-mqtt, recebe cada ajuste de {name} e confirma-o:',
  sketchListens:
    'O sketch acima envia o valor, recebe os ajustes de {name} e confirma-os. Precisa da ' +
    'biblioteca PubSubClient (Ferramentas, Gerir bibliotecas).',
  confirmText: 'Quando a placa o fez, diz isso assim:',
  confirm: 'Confirmar',
  qr: 'Código QR',
  qrText: 'Abre este dispositivo noutro telefone. Imprima-o e cole-o na caixa.',
  noSensor: 'Adicione primeiro um sensor. Depois, as linhas aparecem aqui.',
  keyNeeded: 'As linhas aparecem com uma chave, prontas a usar.',
  board: 'Placa',
  wifi: 'Nome do seu Wi-Fi',
  wifiPassword: 'A palavra-passe',
  wifiHint: 'Ambos ficam nesta página. Só vão para as linhas.',
  wifiFirst: 'Escreva o nome do seu Wi-Fi. Depois, as linhas aparecem aqui.',
  noHttps: 'Esta placa não fala HTTPS: precisa de um endereço do serviço que comece por http://.',
  addSensor: 'Adicionar um sensor',
  loginForKey: 'Entre para criar uma chave: é precisa uma para enviar para este dispositivo.',
  byHand: 'À mão',
  handNone: 'Escreva primeiro o que leu.',
  handNumber: 'Este sensor mede números: escreva um, como 12,5.',
  handBadTime: 'Esta hora não existe.',
  handHint: 'Um número ou uma palavra.',
  handTime: 'Quando foi lido',
  handTimeHint: 'Vazio: agora.',
  handSave: 'Guardar o valor',
  handSaved: 'Valor guardado',
  handKept: 'Não há rede: o valor fica aqui e é enviado quando ela voltar.',
  handWaiting: {
    one: '{count} valor espera pela rede.',
    other: '{count} valores esperam pela rede.',
  },
};
