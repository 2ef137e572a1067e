import Type from 'typebox';
import quantityKinds from './vocabulary/quantity-kinds.json' with { type: 'json' };
import sensorKinds from './vocabulary/sensor-kinds.json' with { type: 'json' };
import units from './vocabulary/units.json' with { type: 'json' };

const Term = { id: Type.String(), label: Type.String() };

/** A vocabulary that a client may offer in a list; nothing is checked against it [contract 5]. */
export interface Vocabulary {
  readonly name: string;
  readonly summary: string;
  readonly schema: ReturnType<typeof Type.Array>;
  readonly terms: readonly object[];
}

/** The four vocabularies of the API; what an actuator is has no list yet. */
export const vocabularies: readonly Vocabulary[] = [
  {
    name: 'sensor_kinds',
    summary: 'Kinds of sensors, with the quantities they measure',
    schema: Type.Array(Type.Object({ ...Term, quantity_kinds: Type.Array(Type.String()) })),
    terms: sensorKinds,
  },
  {
    name: 'quantity_kinds',
    summary: 'Kinds of quantities, with the units they are measured in',
    schema: Type.Array(Type.Object({ ...Term, units: Type.Array(Type.String()) })),
    terms: quantityKinds,
  },
  {
    name: 'units',
    summary: 'Units of measurement',
    schema: Type.Array(Type.Object(Term)),
    terms: units,
  },
  {
    name: 'actuator_kinds',
    summary: 'Kinds of actuators; the list is empty',
    schema: Type.Array(Type.Object(Term)),
    terms: [],
  },
];
