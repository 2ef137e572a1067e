import type { Translation } from '../dictionary.ts';

/** Words that many screens share. */
export const common: Translation<'common'> = {
  pair: '{name}: {value}',
  loading: 'A carregar…',
  retry: 'Tentar de novo',
  cancel: 'Cancelar',
  close: 'Fechar',
  save: 'Guardar',
  delete: 'Apagar',
  edit: 'Editar',
  add: 'Adicionar',
  back: 'Voltar',
  more: 'Mais',
  search: 'Procurar',
  undo: 'Desfazer',
  copy: 'Copiar',
  copied: 'Copiado',
  yes: 'Sim',
  no: 'Não',
  on: 'ligado',
  off: 'desligado',
  nothing: 'nenhum',
  devices: { one: '{count} dispositivo', other: '{count} dispositivos' },
  sensors: { one: '{count} sensor', other: '{count} sensores' },
};
