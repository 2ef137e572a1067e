import type { Translation } from '../dictionary.ts';

/** First visit: what this is, logging in, signing up. */
export const welcome: Translation<'welcome'> = {
  title: 'Os seus sensores, num só lugar',
  what:
    'O Kipimo guarda o que os seus sensores medem e mostra-o em direto, em qualquer ' +
    'telefone. Envia-lhe uma mensagem quando um valor está demasiado baixo ou alto.',
  publicDevices: 'Dispositivos públicos',
  publicHint: 'Todos podem ver estes. Os seus podem ser privados.',
  name: 'Nome de utilizador ou e-mail',
  username: 'Nome de utilizador',
  usernameHint: 'Letras, algarismos e . _ -, sem espaços. Os outros veem este nome.',
  usernameProposed: 'Um nome de utilizador não tem espaços nem acentos. Que tal {name}?',
  password: 'Palavra-passe',
  passwordHint: 'Pelo menos 8 caracteres.',
  passwordShort: 'A palavra-passe precisa de pelo menos 8 caracteres.',
  stay: 'Manter a sessão neste aparelho',
  showPassword: 'Mostrar a palavra-passe',
  forgotten:
    'Este serviço não envia e-mails. Peça a quem o gere que defina uma nova palavra-passe.',
  forgottenAsk: 'Esqueceu a palavra-passe?',
  withoutMail:
    'Não chega nenhum código, ou a sua conta não tem endereço de e-mail? Peça a quem gere ' +
    'este serviço: pode definir uma nova palavra-passe.',
  contact: 'Pergunte a: {contact}',
  forgottenTitle: 'Uma nova palavra-passe',
  forgottenText: 'Enviamos um código para o e-mail da sua conta.',
  sendCode: 'Enviar-me um código',
  codeSent: 'Se existir essa conta com um e-mail, um código vai a caminho.',
  code: 'Código do e-mail',
  codeWrong: 'O código está errado ou é antigo. Peça um novo.',
  codeAgain: 'Pedir outro código',
  firstTitle: 'A sua primeira entrada',
  firstText: 'Escolha uma palavra-passe para o administrador. A que apareceu deixa de servir.',
  firstSet: 'Definir e entrar',
  firstLater: 'Mais tarde: manter a que apareceu',
  firstWrong:
    'Este link já foi usado ou tem mais de uma hora. Entre com a palavra-passe que apareceu.',
  haveAccount: 'Já tem conta?',
  noAccount: 'Ainda não tem conta?',
  closed: 'Este serviço não aceita contas novas. Peça uma ao administrador.',
  taken: 'Este nome de utilizador já existe. Escolha outro.',
  nameNeeded: 'Escreva um nome de utilizador.',
  passwordNeeded: 'Escreva a sua palavra-passe.',
  firstName: 'Nome próprio',
  lastName: 'Apelido',
  email: 'E-mail',
  phone: 'Telefone',
  phoneHint: 'Com o indicativo do país, como +233 20 123 4567. As mensagens SMS vão para lá.',
  country: 'País do número',
  address: 'Morada',
  facebook: 'Facebook',
  twitter: 'X (Twitter)',
  twitterHint: 'Nome da conta sem o sinal @.',
  contactHint: 'Só você e os administradores veem o e-mail, o telefone e a morada.',
  contactWhy:
    'Os alertas chegam lá. Por e-mail pode também receber uma nova palavra-passe se ' +
    'esquecer a sua.',
  moreAboutYou: 'Mais sobre si',
  create: 'Criar conta',
};
