import type { Translation } from '../dictionary.ts';

/** What went wrong, and what to do. */
export const errors: Translation<'errors'> = {
  offline: 'Não é possível chegar ao serviço. Verifique a ligação e tente de novo.',
  unavailable: 'O serviço está ocupado. Tente de novo daqui a pouco.',
  internal: 'Algo falhou no serviço. Tente de novo. Se continuar, avise o administrador.',
  forbidden: 'Não pode fazer isto. Peça ao dono que partilhe consigo.',
  notFound: 'Isto já não existe.',
  tooLarge: 'Isto é demasiado grande para o serviço.',
  rateLimited: 'Demasiadas tentativas. Tente de novo daqui a {count} s.',
  loggedOut: 'Entre para fazer isto.',
  badLogin: 'O nome de utilizador ou a palavra-passe está errado.',
  screen: 'Não foi possível carregar esta página. Verifique a ligação e tente de novo.',
  crash: 'Esta página falhou. Carregue-a de novo; o que guardou está seguro.',
};
