/**
 * Compiles frequent statements once. Building and compiling a statement each time would take longer than the database
 * needs to run it.
 */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';

/** The end of frequent statements: parsing and planning one can take several times as long as running it. */
export const PLANNED_ONCE = ' /* planned once */';

/** A named parameter of a compiled statement. Each use provides its value. */
class NamedParameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** The parameters of a statement by name. */
export type Parameters<Name extends string> = Readonly<Record<Name, RawBuilder<unknown>>>;

/** A function that returns the compiled statement with these values. */
export type Statement<Name extends string, Row> = (values: Readonly<Record<Name, unknown>>) => CompiledQuery<Row>;

/** A statement that is built and compiled at its first use. */
export function precompiled<const Name extends string, Row>(
  names: readonly Name[],
  make: (parameters: Parameters<Name>) => { compile(): CompiledQuery<Row> },
): Statement<Name, Row> {
  let compiled: CompiledQuery<Row> | undefined;
  return (values) => {
    compiled ??= make(
      Object.fromEntries(names.map((name) => [name, sql`${new NamedParameter(name)}`])) as Parameters<Name>,
    ).compile();
    const parameters = compiled.parameters.map((it) => (it instanceof NamedParameter ? values[it.name as Name] : it));
    return { ...compiled, parameters };
  };
}
