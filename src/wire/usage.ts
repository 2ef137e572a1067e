import Type from 'typebox';
import type { BudgetReport } from '../domain/budgets/budgets.ts';
import { defined } from '../lib/record.ts';

export const BudgetMessage = Type.Object(
  {
    name: Type.String({ description: 'As in docs/limits.md and in KIPIMO_BUDGETS.' }),
    unit: Type.String({ description: 'bytes or entries.' }),
    used: Type.Number(),
    total: Type.Number(),
    guests: Type.Number({ description: 'What all guests use together.' }),
    refusals: Type.Number({ description: 'How often there was no room, since the start.' }),
    largest: Type.Array(
      Type.Object({
        username: Type.Optional(Type.String()),
        who: Type.String({ description: 'The id of an account, or the address of guests.' }),
        used: Type.Number(),
      }),
      { description: 'Who uses the most, the largest first.' },
    ),
  },
  { title: 'Budget' },
);

export const budgetToWire = (report: BudgetReport) => ({
  name: report.name,
  unit: report.unit,
  used: report.used,
  total: report.total,
  guests: report.guests,
  refusals: report.refusals,
  largest: report.largest.map(({ username, who, used }) => defined({ username, who, used })),
});
