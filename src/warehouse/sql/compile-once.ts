/**
 * Statements that run for every request, compiled once: to build and compile one each time takes this process longer
 * than the database takes to run it.
 */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';

/** Stands in a compiled statement for a value that each use of it brings. */
class Given {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** What a statement is made of: its values, by name, each a parameter. */
export type Parameters<Name extends string> = Readonly<Record<Name, RawBuilder<unknown>>>;

/** The statement with these values, ready to be executed. */
export type Statement<Name extends string, Row> = (values: Readonly<Record<Name, unknown>>) => CompiledQuery<Row>;

/** A statement that is made and compiled at its first use. */
export function precompiled<const Name extends string, Row>(
  names: readonly Name[],
  make: (given: Parameters<Name>) => { compile(): CompiledQuery<Row> },
): Statement<Name, Row> {
  let compiled: CompiledQuery<Row> | undefined;
  return (values) => {
    compiled ??= make(
      Object.fromEntries(names.map((name) => [name, sql`${new Given(name)}`])) as Parameters<Name>,
    ).compile();
    const parameters = compiled.parameters.map((it) => (it instanceof Given ? values[it.name as Name] : it));
    return { ...compiled, parameters };
  };
}

/** What is made for each object once, as long as the object is in use. */
export function memoizeByObject<Key extends object, T>(make: (key: Key) => T): (key: Key) => T {
  const made = new WeakMap<Key, T>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}
