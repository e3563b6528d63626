/** The columns that a declaration's scalar fields have in a row. */
import type { Field, Fields } from '../service/model.ts';

/** The columns that are null if an object is absent. Its lists count as not reported. */
export function scalarNames(fields: Fields, prefix: string): string[] {
  return Object.entries(fields).flatMap(([name, field]) => scalarNamesOf(field, prefix + name));
}

function scalarNamesOf(field: Field, name: string): string[] {
  switch (field.shape) {
    case 'scalar':
      return field.kind === 'epoch' ? [name, `${name}_epoch`] : [name];
    case 'object':
      return scalarNames(field.fields, `${name}_`);
    case 'nested':
      return field.resource().key.map((key) => `${name}_${key}`);
    case 'list':
    case 'nested-list':
    case 'given':
      return [];
  }
}
