import type { Translation } from '../dictionary.ts';

/** The own account. */
export const profile: Translation<'profile'> = {
  title: 'Perfil',
  me: 'Eu',
  developers: 'Para programadores',
  contact: 'Sobre si',
  saved: 'O seu perfil foi guardado',
  guides: 'Guias (em inglês)',
  look: 'Língua e aspeto',
  language: 'Língua',
  theme: 'Cores',
  system: 'como o aparelho',
  light: 'claro',
  dark: 'escuro',
  password: 'Palavra-passe',
  browsers: 'Navegadores onde a sessão se mantém',
  browsersText:
    'A sessão mantém-se durante 30 dias depois da última utilização. Termine a de um ' +
    'navegador que perdeu.',
  browsersNone: 'A sua sessão não se mantém em lado nenhum.',
  browserUsed: 'usado {age} a partir de {address}',
  browserEnd: 'Terminar sessão',
  browserEnded: 'A sessão de {name} terminou',
  oldPassword: 'Palavra-passe atual',
  oldPasswordNeeded: 'Indique a sua palavra-passe atual.',
  oldPasswordWrong: 'Não é a sua palavra-passe atual.',
  newPassword: 'Nova palavra-passe',
  changePassword: 'Mudar a palavra-passe',
  passwordChanged: 'A palavra-passe foi mudada. A sessão terminou em todos os outros lugares.',
  keys: 'Chaves',
  keysText:
    'Para gateways, dispositivos e programas, que não podem entrar de novo a cada dez ' +
    'minutos. Uma chave serve em vez de um token ou de uma palavra-passe.',
  keysNone: 'Não tem chaves.',
  keyName: 'Para que serve',
  keyNameHint: 'Por exemplo: gateway no telhado da escola.',
  keyNameNeeded: 'Diga para que serve.',
  keyRights: 'Pode',
  keyAll: 'fazer tudo o que eu posso, exceto mudar a minha conta',
  keySend: 'só enviar valores',
  keyRead: 'só ler',
  keyMake: 'Criar uma chave',
  keyShown: 'Esta é a chave. Só é mostrada uma vez: copie-a agora.',
  keyMade: 'criada {age}',
  keyExpires: 'até {date}',
  keyDelete: 'Apagar',
  keyDeleteText: 'Tudo o que usa a chave {name} deixa logo de funcionar.',
  keyDeleted: 'A chave {name} foi apagada',
  connect: 'Onde os programas se ligam',
  connectText:
    'Como palavra-passe, use uma chave ou a sua própria palavra-passe. Enquanto correm, ' +
    'estas linhas mostram cada novo valor de todos os dispositivos que pode ver.',
  keyHere: 'A SUA CHAVE',
  take: 'Levar os meus dados',
  takeText:
    'Os valores de um dispositivo estão em CSV, na página dele. Este ficheiro tem tudo o ' +
    'resto: o seu perfil, dispositivos, alertas, chaves sem os segredos, e quem partilha ' +
    'o quê.',
  takeDo: 'Descarregar a minha conta',
  taking: 'A reunir…',
  delete: 'Apagar a minha conta',
  deleteText:
    'Apaga a sua conta {name}, os seus dispositivos e todos os valores que alguma vez ' +
    'enviaram. Não pode ser desfeito. Escreva o seu nome de utilizador para continuar.',
  deleteConfirm: 'O seu nome de utilizador',
  deleted: 'A sua conta foi apagada',
  proveText:
    'Os alertas só vão para endereços que confirmou. Peça que lhes seja enviado um ' +
    'código e escreva-o aqui.',
  prove: 'Enviar um código',
  proveAgain: 'Enviar outro código',
  proven: 'confirmado',
  provenNow: '{address} está confirmado',
  code: 'O código',
  codeHint: 'É válido durante meia hora.',
  confirm: 'Confirmar',
  webhook: 'Webhook',
  webhookText:
    'Os alertas por webhook são enviados em JSON para este URL, assinados com o seu ' + 'segredo.',
  webhookUrl: 'URL do webhook',
  webhookSecret: 'Mostrar o segredo',
  storage: 'Os seus dispositivos ocupam {used} MiB no disco.',
  storageOf: 'Os seus dispositivos ocupam {used} de {quota} MiB no disco.',
  smsCredit: { one: 'Resta {count} SMS', other: 'Restam {count} SMS' },
};
