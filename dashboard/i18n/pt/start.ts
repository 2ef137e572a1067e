import type { Translation } from '../dictionary.ts';

/** A first device in three steps. */
export const start: Translation<'start'> = {
  title: 'Novo dispositivo',
  step: 'Passo {count} de 3',
  nameTitle: 'O que é?',
  name: 'Nome',
  nameHint: 'Como lhe chamaria: Campo 3, tanque da escola.',
  id: 'Id',
  idHint: 'Um nome curto, usado em endereços e código. Não pode ser mudado depois.',
  taken: 'Já há um dispositivo com este id. Escolha outro.',
  next: 'Seguinte',
  back: 'Voltar',
  sensorsTitle: 'O que mede?',
  sensorsHint: 'Toque em tudo o que se aplica. Pode acrescentar e mudar depois.',
  other: 'Outra coisa',
  otherName: 'O nome',
  create: 'Criar o dispositivo',
  sendTitle: 'Envie o primeiro valor',
  waiting: 'À espera do primeiro valor…',
  arrivedText: 'O seu dispositivo está pronto.',
  see: 'Ver o dispositivo',
  later: 'Faço isto mais tarde',
  idTaken: '{id} já existe. {free} está livre.',
  useFree: 'Usar {id}',
  several: 'Vários do mesmo tipo',
  howMany: 'Quantos',
  howManyHint: 'São numerados: {first} a {last}.',
  howManyBad: 'Um número inteiro de 1 a 50.',
  made: { one: '{count} dispositivo foi criado', other: '{count} dispositivos foram criados' },
  madeSome:
    '{made} de {count} estão criados; depois houve uma interrupção. Tente de novo: estes ' +
    'não são criados duas vezes.',
  whichLines: 'Linhas para',
  noSensorYet: 'Ainda não mede nada. Escolha o que mede, e as linhas aparecem aqui.',
  addThese: 'Adicionar estes',
  nothing: 'Não chega nada?',
  whyLocal:
    'As linhas dizem {host}, um nome que cada computador dá a si próprio. Para outra ' +
    'máquina, abra esta página pelo nome ou endereço deste computador, e copie as linhas ' +
    'de novo.',
  whyText:
    'Veja a resposta que o seu dispositivo recebe: o curl e o Python mostram-na, o Arduino ' +
    'escreve-a no monitor série.',
  why401: 'A chave falta ou está incompleta. Crie uma nova acima.',
  why403: 'A chave é de outro dispositivo.',
  why404:
    'O id do dispositivo ou do sensor escreve-se de outra forma. Maiúsculas e minúsculas contam.',
  why400: 'Não se consegue ler o valor. Escreva os decimais com ponto, e o texto entre aspas.',
  why429: 'Envia demasiadas vezes. Espere o tempo que a resposta diz.',
  noAnswer: 'sem resposta',
  whyNoAnswer: 'O seu dispositivo não consegue chegar a {origin}. Está na mesma rede?',
};
