import type { Instant } from '../../lib/clock.ts';
import type { Pattern } from '../../lib/pattern.ts';

/** Value that a field is compared with. */
export interface Operand {
  readonly text: string;
  /** The number that the text is, unless quotes force it to be text. */
  readonly number: number | undefined;
  /** The moment that the text is, for fields that hold one. */
  readonly instant: Instant | undefined;
}

/** A value, or a range with both its ends. */
export type Criterion = Operand | { readonly from: Operand; readonly to: Operand };

/** A test of a filter or expression, over the field of that name. */
export type FieldTest =
  | { readonly operator: 'exists' | 'absent'; readonly name: string }
  | {
      readonly operator: '==' | '!=';
      readonly name: string;
      readonly anyOf: readonly Criterion[];
    }
  | {
      readonly operator: '<' | '<=' | '>' | '>=';
      readonly name: string;
      readonly operand: Operand;
    }
  | { readonly operator: '~='; readonly name: string; readonly pattern: Pattern };

/** `silent(TC1, 2h)`: no datapoint of the sensor for that long. */
export interface SilenceTest {
  readonly name: string;
  readonly durationMs: number;
}

/** Content of the text of a condition: all tests and silences must hold. */
export interface ParsedCondition {
  readonly tests: readonly FieldTest[];
  readonly silences: readonly SilenceTest[];
  /** How long it must have held; 0: not at all. */
  readonly forMs: number;
  /** Tests that must hold before the condition counts as new. */
  readonly clear: readonly FieldTest[];
}
